package shards;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes in the reports of the hosts. */
final class ReportHandler {
    private static final Logger LOG = Logger.getLogger(ReportHandler.class.getName());

    private final Catalog catalog;

    ReportHandler(Catalog catalog) {
        this.catalog = catalog;
    }

    void handle(Report report, HostState from, long receivedNs) {
        try {
            merge(report, from);
        } catch (UnknownShardException e) {
            LOG.log(Level.WARNING, "dropping the rest of the report of " + report.host(), e);
        }
        from.reported(receivedNs);
    }

    private void merge(Report report, HostState from) throws UnknownShardException {
        for (Entry entry : report.entries()) {
            catalog.find(entry.shard()).served(entry.requests());
            from.settle(entry.shard());
        }
    }
}

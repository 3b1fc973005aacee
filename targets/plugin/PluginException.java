package plugin;

public class PluginException extends Exception {
    public PluginException(String message) { super(message); }
}

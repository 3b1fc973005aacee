package commit;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Runs a job: hands its tasks to workers, an attempt at a time, and each again if its worker is gone. */
public final class Master {
    private static final Logger LOG = Logger.getLogger(Master.class.getName());
    private static final int TASKS = 24;
    private static final int SILENCE_MS = 3000;

    private final Outputs outputs;
    private final List<Task> tasks = new ArrayList<>();

    private Master(Path data) throws IOException {
        this.outputs = new Outputs(data);
        for (int i = 0; i < TASKS; i++) {
            Task task = new Task(i);
            if (outputs.has(i)) {
                task.end();
            }
            tasks.add(task);
        }
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Master master = new Master(Path.of(options.text("data")));
            new Acceptor("WorkerAcceptor", options.number("workers", 7850), master::employ).start();
            new Acceptor("ClientAcceptor", options.number("clients", 7851), master::serve).start();
            LOG.info("the master is there");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    /** A worker, as long as it is there. */
    private void employ(Socket socket) throws IOException {
        socket.setSoTimeout(SILENCE_MS);
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        Task task = null;
        try {
            while (true) {
                String request = in.readUTF();
                String attempt = in.readUTF();
                String answer = "OK";
                switch (request) {
                    case "NEXT" -> {
                        task = null;
                        for (Task it : tasks) {
                            answer = it.start();
                            if (answer != null) {
                                task = it;
                                break;
                            }
                        }
                        answer = task == null ? "" : task.number() + " " + answer;
                    }
                    case "STATUS" -> LOG.log(Level.FINE, "{0} is at work", attempt);
                    case "CAN_COMMIT" -> answer = task.canCommit(attempt) ? "YES" : "NO";
                    case "DONE" -> {
                        task.end();
                        LOG.log(Level.INFO, "{0} is done", attempt);
                        task = null;
                    }
                    default -> throw new IOException("unknown request " + request);
                }
                out.writeUTF(answer);
                out.flush();
            }
        } finally {
            if (task != null) {
                task.lose();
            }
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            int number;
            try {
                number = Integer.parseInt(in.readUTF());
            } catch (EOFException e) {
                return;
            }
            out.writeUTF(tasks.get(number).isDone() ? outputs.read(number) : "");
            out.flush();
        }
    }
}

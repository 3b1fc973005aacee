import com.sun.jdi.Bootstrap;
import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.StepRequest;
import java.io.PrintWriter;
import java.util.Map;

/**
 * `Stepper DIRECTORY CLASS FILE`: runs the class and steps through every instruction of its main thread, from `main` on. Writes the
 * method and the code index of each instruction of this class into the file, and the class's output to stdout.
 */
public class Stepper {
    public static void main(String[] args) throws Exception {
        String program = args[1];
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("options").setValue("-XX:+UseSerialGC -cp \"" + args[0] + "\"");
        arguments.get("main").setValue(program);
        VirtualMachine vm = connector.launch(arguments);
        ClassPrepareRequest prepare = vm.eventRequestManager().createClassPrepareRequest();
        prepare.addClassFilter(program);
        prepare.enable();
        try (PrintWriter out = new PrintWriter(args[2])) {
            follow(vm, out);
        }
        vm.process().getInputStream().transferTo(System.out);
        vm.process().getErrorStream().transferTo(System.err);
        System.exit(vm.process().waitFor());
    }

    private static void follow(VirtualMachine vm, PrintWriter out) throws Exception {
        ReferenceType program = null;
        while (true) {
            EventSet events = vm.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof ClassPrepareEvent) {
                    program = ((ClassPrepareEvent) event).referenceType();
                    Location main = program.methodsByName("main").get(0).location();
                    BreakpointRequest start = vm.eventRequestManager().createBreakpointRequest(main);
                    start.addCountFilter(1);
                    start.enable();
                } else if (event instanceof BreakpointEvent) {
                    BreakpointEvent start = (BreakpointEvent) event;
                    StepRequest step = vm.eventRequestManager()
                            .createStepRequest(start.thread(), StepRequest.STEP_MIN, StepRequest.STEP_INTO);
                    // The thread goes on while its steps are sent, in order.
                    step.setSuspendPolicy(EventRequest.SUSPEND_NONE);
                    step.enable();
                } else if (event instanceof StepEvent) {
                    Location at = ((StepEvent) event).location();
                    // Nothing is asked of the JVM here, which may have ended since.
                    if (at.declaringType().equals(program)) {
                        out.println(at.method().name() + " " + at.codeIndex());
                    }
                } else if (event instanceof VMDisconnectEvent) {
                    return;
                }
            }
            if (events.suspendPolicy() != EventRequest.SUSPEND_NONE) {
                events.resume();
            }
        }
    }
}

//! Operands that an instruction pops and pushes, as far as its opcode tells.

use hypocenter_classfile::op;

/// Effect of an instruction on the operand stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// The words of its operands, the deepest first; 0 behind the last.
    pub takes: [u8; 3],
    /// The words of its result, 0 if it has none.
    pub gives: u8,
    /// True if it can throw. Not counted is what can happen anywhere: no memory, no stack, a stopped thread. Of
    /// constants the opcode does not say it.
    pub throws: bool,
}

/// Shapes by opcode; empty for what moves values, calls, and fields, which depend on more than the opcode.
pub(crate) static SHAPES: [Shape; 256] = shapes();

const fn shapes() -> [Shape; 256] {
    let mut table = [Shape { takes: [0; 3], gives: 0, throws: false }; 256];
    let mut opcode = 0;
    while opcode <= op::JSR_W as usize {
        let (takes, gives) = stack(opcode as u8);
        table[opcode] = Shape { takes, gives, throws: throws(opcode as u8) };
        opcode += 1;
    }
    table
}

const fn stack(opcode: u8) -> ([u8; 3], u8) {
    use op::*;
    // Of the arithmetic in the order int, long, float, double.
    let wide = 1 + ((opcode.wrapping_sub(IADD)) & 1);
    match opcode {
        ACONST_NULL..=ICONST_5 | FCONST_0..=FCONST_2 | BIPUSH..=LDC_W | NEW => ([0, 0, 0], 1),
        LCONST_0 | LCONST_1 | DCONST_0 | DCONST_1 | LDC2_W => ([0, 0, 0], 2),
        LALOAD | DALOAD => ([1, 1, 0], 2),
        IALOAD..=SALOAD => ([1, 1, 0], 1),
        LASTORE | DASTORE => ([1, 1, 2], 0),
        IASTORE..=SASTORE => ([1, 1, 1], 0),
        IADD..=DREM | IAND..=LXOR => ([wide, wide, 0], wide),
        INEG..=DNEG => ([wide, 0, 0], wide),
        ISHL..=LUSHR => ([wide, 1, 0], wide),
        I2L | I2D | F2L | F2D => ([1, 0, 0], 2),
        L2I | L2F | D2I | D2F => ([2, 0, 0], 1),
        L2D | D2L => ([2, 0, 0], 2),
        I2F | F2I | I2B..=I2S => ([1, 0, 0], 1),
        LCMP | DCMPL | DCMPG => ([2, 2, 0], 1),
        FCMPL | FCMPG => ([1, 1, 0], 1),
        IFEQ..=IFLE | IFNULL | IFNONNULL | TABLESWITCH | LOOKUPSWITCH => ([1, 0, 0], 0),
        IF_ICMPEQ..=IF_ACMPNE => ([1, 1, 0], 0),
        LRETURN | DRETURN => ([2, 0, 0], 0),
        IRETURN | FRETURN | ARETURN | ATHROW | MONITORENTER | MONITOREXIT => ([1, 0, 0], 0),
        NEWARRAY..=ARRAYLENGTH | CHECKCAST | INSTANCEOF => ([1, 0, 0], 1),
        _ => ([0, 0, 0], 0),
    }
}

const fn throws(opcode: u8) -> bool {
    use op::*;
    matches!(
        opcode,
        IALOAD..=SALOAD
            | IASTORE..=SASTORE
            | IDIV
            | LDIV
            | IREM
            | LREM
            | GETSTATIC..=ATHROW
            | CHECKCAST..=MONITOREXIT
            | MULTIANEWARRAY
    )
}

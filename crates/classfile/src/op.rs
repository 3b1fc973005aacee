//! The opcodes by name.

/// `nop`
pub const NOP: u8 = 0;
/// `aconst_null`
pub const ACONST_NULL: u8 = 1;
/// `iconst_m1`
pub const ICONST_M1: u8 = 2;
/// `iconst_0`
pub const ICONST_0: u8 = 3;
/// `iconst_1`
pub const ICONST_1: u8 = 4;
/// `iconst_2`
pub const ICONST_2: u8 = 5;
/// `iconst_3`
pub const ICONST_3: u8 = 6;
/// `iconst_4`
pub const ICONST_4: u8 = 7;
/// `iconst_5`
pub const ICONST_5: u8 = 8;
/// `lconst_0`
pub const LCONST_0: u8 = 9;
/// `lconst_1`
pub const LCONST_1: u8 = 10;
/// `fconst_0`
pub const FCONST_0: u8 = 11;
/// `fconst_1`
pub const FCONST_1: u8 = 12;
/// `fconst_2`
pub const FCONST_2: u8 = 13;
/// `dconst_0`
pub const DCONST_0: u8 = 14;
/// `dconst_1`
pub const DCONST_1: u8 = 15;
/// `bipush`
pub const BIPUSH: u8 = 16;
/// `sipush`
pub const SIPUSH: u8 = 17;
/// `ldc`
pub const LDC: u8 = 18;
/// `ldc_w`
pub const LDC_W: u8 = 19;
/// `ldc2_w`
pub const LDC2_W: u8 = 20;
/// `iload`
pub const ILOAD: u8 = 21;
/// `lload`
pub const LLOAD: u8 = 22;
/// `fload`
pub const FLOAD: u8 = 23;
/// `dload`
pub const DLOAD: u8 = 24;
/// `aload`
pub const ALOAD: u8 = 25;
/// `iload_0`
pub const ILOAD_0: u8 = 26;
/// `iload_1`
pub const ILOAD_1: u8 = 27;
/// `iload_2`
pub const ILOAD_2: u8 = 28;
/// `iload_3`
pub const ILOAD_3: u8 = 29;
/// `lload_0`
pub const LLOAD_0: u8 = 30;
/// `lload_1`
pub const LLOAD_1: u8 = 31;
/// `lload_2`
pub const LLOAD_2: u8 = 32;
/// `lload_3`
pub const LLOAD_3: u8 = 33;
/// `fload_0`
pub const FLOAD_0: u8 = 34;
/// `fload_1`
pub const FLOAD_1: u8 = 35;
/// `fload_2`
pub const FLOAD_2: u8 = 36;
/// `fload_3`
pub const FLOAD_3: u8 = 37;
/// `dload_0`
pub const DLOAD_0: u8 = 38;
/// `dload_1`
pub const DLOAD_1: u8 = 39;
/// `dload_2`
pub const DLOAD_2: u8 = 40;
/// `dload_3`
pub const DLOAD_3: u8 = 41;
/// `aload_0`
pub const ALOAD_0: u8 = 42;
/// `aload_1`
pub const ALOAD_1: u8 = 43;
/// `aload_2`
pub const ALOAD_2: u8 = 44;
/// `aload_3`
pub const ALOAD_3: u8 = 45;
/// `iaload`
pub const IALOAD: u8 = 46;
/// `laload`
pub const LALOAD: u8 = 47;
/// `faload`
pub const FALOAD: u8 = 48;
/// `daload`
pub const DALOAD: u8 = 49;
/// `aaload`
pub const AALOAD: u8 = 50;
/// `baload`
pub const BALOAD: u8 = 51;
/// `caload`
pub const CALOAD: u8 = 52;
/// `saload`
pub const SALOAD: u8 = 53;
/// `istore`
pub const ISTORE: u8 = 54;
/// `lstore`
pub const LSTORE: u8 = 55;
/// `fstore`
pub const FSTORE: u8 = 56;
/// `dstore`
pub const DSTORE: u8 = 57;
/// `astore`
pub const ASTORE: u8 = 58;
/// `istore_0`
pub const ISTORE_0: u8 = 59;
/// `istore_1`
pub const ISTORE_1: u8 = 60;
/// `istore_2`
pub const ISTORE_2: u8 = 61;
/// `istore_3`
pub const ISTORE_3: u8 = 62;
/// `lstore_0`
pub const LSTORE_0: u8 = 63;
/// `lstore_1`
pub const LSTORE_1: u8 = 64;
/// `lstore_2`
pub const LSTORE_2: u8 = 65;
/// `lstore_3`
pub const LSTORE_3: u8 = 66;
/// `fstore_0`
pub const FSTORE_0: u8 = 67;
/// `fstore_1`
pub const FSTORE_1: u8 = 68;
/// `fstore_2`
pub const FSTORE_2: u8 = 69;
/// `fstore_3`
pub const FSTORE_3: u8 = 70;
/// `dstore_0`
pub const DSTORE_0: u8 = 71;
/// `dstore_1`
pub const DSTORE_1: u8 = 72;
/// `dstore_2`
pub const DSTORE_2: u8 = 73;
/// `dstore_3`
pub const DSTORE_3: u8 = 74;
/// `astore_0`
pub const ASTORE_0: u8 = 75;
/// `astore_1`
pub const ASTORE_1: u8 = 76;
/// `astore_2`
pub const ASTORE_2: u8 = 77;
/// `astore_3`
pub const ASTORE_3: u8 = 78;
/// `iastore`
pub const IASTORE: u8 = 79;
/// `lastore`
pub const LASTORE: u8 = 80;
/// `fastore`
pub const FASTORE: u8 = 81;
/// `dastore`
pub const DASTORE: u8 = 82;
/// `aastore`
pub const AASTORE: u8 = 83;
/// `bastore`
pub const BASTORE: u8 = 84;
/// `castore`
pub const CASTORE: u8 = 85;
/// `sastore`
pub const SASTORE: u8 = 86;
/// `pop`
pub const POP: u8 = 87;
/// `pop2`
pub const POP2: u8 = 88;
/// `dup`
pub const DUP: u8 = 89;
/// `dup_x1`
pub const DUP_X1: u8 = 90;
/// `dup_x2`
pub const DUP_X2: u8 = 91;
/// `dup2`
pub const DUP2: u8 = 92;
/// `dup2_x1`
pub const DUP2_X1: u8 = 93;
/// `dup2_x2`
pub const DUP2_X2: u8 = 94;
/// `swap`
pub const SWAP: u8 = 95;
/// `iadd`
pub const IADD: u8 = 96;
/// `ladd`
pub const LADD: u8 = 97;
/// `fadd`
pub const FADD: u8 = 98;
/// `dadd`
pub const DADD: u8 = 99;
/// `isub`
pub const ISUB: u8 = 100;
/// `lsub`
pub const LSUB: u8 = 101;
/// `fsub`
pub const FSUB: u8 = 102;
/// `dsub`
pub const DSUB: u8 = 103;
/// `imul`
pub const IMUL: u8 = 104;
/// `lmul`
pub const LMUL: u8 = 105;
/// `fmul`
pub const FMUL: u8 = 106;
/// `dmul`
pub const DMUL: u8 = 107;
/// `idiv`
pub const IDIV: u8 = 108;
/// `ldiv`
pub const LDIV: u8 = 109;
/// `fdiv`
pub const FDIV: u8 = 110;
/// `ddiv`
pub const DDIV: u8 = 111;
/// `irem`
pub const IREM: u8 = 112;
/// `lrem`
pub const LREM: u8 = 113;
/// `frem`
pub const FREM: u8 = 114;
/// `drem`
pub const DREM: u8 = 115;
/// `ineg`
pub const INEG: u8 = 116;
/// `lneg`
pub const LNEG: u8 = 117;
/// `fneg`
pub const FNEG: u8 = 118;
/// `dneg`
pub const DNEG: u8 = 119;
/// `ishl`
pub const ISHL: u8 = 120;
/// `lshl`
pub const LSHL: u8 = 121;
/// `ishr`
pub const ISHR: u8 = 122;
/// `lshr`
pub const LSHR: u8 = 123;
/// `iushr`
pub const IUSHR: u8 = 124;
/// `lushr`
pub const LUSHR: u8 = 125;
/// `iand`
pub const IAND: u8 = 126;
/// `land`
pub const LAND: u8 = 127;
/// `ior`
pub const IOR: u8 = 128;
/// `lor`
pub const LOR: u8 = 129;
/// `ixor`
pub const IXOR: u8 = 130;
/// `lxor`
pub const LXOR: u8 = 131;
/// `iinc`
pub const IINC: u8 = 132;
/// `i2l`
pub const I2L: u8 = 133;
/// `i2f`
pub const I2F: u8 = 134;
/// `i2d`
pub const I2D: u8 = 135;
/// `l2i`
pub const L2I: u8 = 136;
/// `l2f`
pub const L2F: u8 = 137;
/// `l2d`
pub const L2D: u8 = 138;
/// `f2i`
pub const F2I: u8 = 139;
/// `f2l`
pub const F2L: u8 = 140;
/// `f2d`
pub const F2D: u8 = 141;
/// `d2i`
pub const D2I: u8 = 142;
/// `d2l`
pub const D2L: u8 = 143;
/// `d2f`
pub const D2F: u8 = 144;
/// `i2b`
pub const I2B: u8 = 145;
/// `i2c`
pub const I2C: u8 = 146;
/// `i2s`
pub const I2S: u8 = 147;
/// `lcmp`
pub const LCMP: u8 = 148;
/// `fcmpl`
pub const FCMPL: u8 = 149;
/// `fcmpg`
pub const FCMPG: u8 = 150;
/// `dcmpl`
pub const DCMPL: u8 = 151;
/// `dcmpg`
pub const DCMPG: u8 = 152;
/// `ifeq`
pub const IFEQ: u8 = 153;
/// `ifne`
pub const IFNE: u8 = 154;
/// `iflt`
pub const IFLT: u8 = 155;
/// `ifge`
pub const IFGE: u8 = 156;
/// `ifgt`
pub const IFGT: u8 = 157;
/// `ifle`
pub const IFLE: u8 = 158;
/// `if_icmpeq`
pub const IF_ICMPEQ: u8 = 159;
/// `if_icmpne`
pub const IF_ICMPNE: u8 = 160;
/// `if_icmplt`
pub const IF_ICMPLT: u8 = 161;
/// `if_icmpge`
pub const IF_ICMPGE: u8 = 162;
/// `if_icmpgt`
pub const IF_ICMPGT: u8 = 163;
/// `if_icmple`
pub const IF_ICMPLE: u8 = 164;
/// `if_acmpeq`
pub const IF_ACMPEQ: u8 = 165;
/// `if_acmpne`
pub const IF_ACMPNE: u8 = 166;
/// `goto`
pub const GOTO: u8 = 167;
/// `jsr`
pub const JSR: u8 = 168;
/// `ret`
pub const RET: u8 = 169;
/// `tableswitch`
pub const TABLESWITCH: u8 = 170;
/// `lookupswitch`
pub const LOOKUPSWITCH: u8 = 171;
/// `ireturn`
pub const IRETURN: u8 = 172;
/// `lreturn`
pub const LRETURN: u8 = 173;
/// `freturn`
pub const FRETURN: u8 = 174;
/// `dreturn`
pub const DRETURN: u8 = 175;
/// `areturn`
pub const ARETURN: u8 = 176;
/// `return`
pub const RETURN: u8 = 177;
/// `getstatic`
pub const GETSTATIC: u8 = 178;
/// `putstatic`
pub const PUTSTATIC: u8 = 179;
/// `getfield`
pub const GETFIELD: u8 = 180;
/// `putfield`
pub const PUTFIELD: u8 = 181;
/// `invokevirtual`
pub const INVOKEVIRTUAL: u8 = 182;
/// `invokespecial`
pub const INVOKESPECIAL: u8 = 183;
/// `invokestatic`
pub const INVOKESTATIC: u8 = 184;
/// `invokeinterface`
pub const INVOKEINTERFACE: u8 = 185;
/// `invokedynamic`
pub const INVOKEDYNAMIC: u8 = 186;
/// `new`
pub const NEW: u8 = 187;
/// `newarray`
pub const NEWARRAY: u8 = 188;
/// `anewarray`
pub const ANEWARRAY: u8 = 189;
/// `arraylength`
pub const ARRAYLENGTH: u8 = 190;
/// `athrow`
pub const ATHROW: u8 = 191;
/// `checkcast`
pub const CHECKCAST: u8 = 192;
/// `instanceof`
pub const INSTANCEOF: u8 = 193;
/// `monitorenter`
pub const MONITORENTER: u8 = 194;
/// `monitorexit`
pub const MONITOREXIT: u8 = 195;
/// `wide`
pub const WIDE: u8 = 196;
/// `multianewarray`
pub const MULTIANEWARRAY: u8 = 197;
/// `ifnull`
pub const IFNULL: u8 = 198;
/// `ifnonnull`
pub const IFNONNULL: u8 = 199;
/// `goto_w`
pub const GOTO_W: u8 = 200;
/// `jsr_w`
pub const JSR_W: u8 = 201;

//! Writes filter programs for the kernel, with the one answer that seccompiler does not have: to let a
//! process of ours decide about a call.
//!
//! A program is a list of rules. The first rule that fits gives the answer; without one the call is
//! allowed. Each rule is a block of its own, so that a rule can be read in the program.

use libc::sock_filter;

use super::calls::{Call, Processor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Errno(i32),
    /// The supervisor decides, and does what the call should do.
    Supervisor,
}

/// What has to be true of an argument. The kernel reads numbers, flags and descriptors from the lower
/// half of an argument alone.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// With only these bits looked at, it is one of these.
    Is { argument: u32, bits: u32, values: &'static [u32] },
    /// With only these bits looked at, it is none of these.
    IsNot { argument: u32, bits: u32, values: &'static [u32] },
    /// A pointer is there.
    IsGiven { argument: u32 },
}

/// All tests have to hold.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) call: Call,
    pub(super) tests: Vec<Test>,
    pub(super) answer: Answer,
}

// The instructions that are used, as the kernel numbers them.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_NOT_BELOW: u16 = 0x35;
const RETURN: u16 = 0x06;

// Where the kernel puts what a filter can look at.
const NUMBER: u32 = 0;
const PROCESSOR: u32 = 4;
const ARGUMENTS: u32 = 16;

/// The numbering of 32-bit pointers on x86-64, whose calls no rule would find.
const X32: u32 = 0x4000_0000;

pub(super) fn write(processor: Processor, rules: &[Rule]) -> Vec<sock_filter> {
    let mut program = vec![
        statement(LOAD, PROCESSOR),
        jump(JUMP_IF_EQUAL, processor.audit(), 1, 0),
        statement(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        statement(LOAD, NUMBER),
    ];
    if processor == Processor::X86_64 {
        program.push(jump(JUMP_IF_NOT_BELOW, X32, 0, 1));
        program.push(statement(RETURN, Answer::Errno(libc::EPERM).encoded()));
    }
    for rule in rules {
        if let Some(number) = rule.call.on(processor) {
            program.extend(block(number, rule));
        }
    }
    program.push(statement(RETURN, libc::SECCOMP_RET_ALLOW));
    program
}

/// Ends with the number loaded again, if something else was, for the blocks behind it.
fn block(number: u32, rule: &Rule) -> Vec<sock_filter> {
    let mut body: Vec<sock_filter> = Vec::new();
    // Places of jumps that lead to the end of the body, where the answer is not given.
    let mut leaving: Vec<(usize, Way)> = Vec::new();
    for test in &rule.tests {
        match *test {
            Test::Is { argument, bits, values } => {
                body.extend(masked(argument, bits));
                for (index, value) in values.iter().enumerate() {
                    let rest = values.len() - index - 1;
                    body.push(jump(JUMP_IF_EQUAL, *value, short(rest), 0));
                    if rest == 0 {
                        leaving.push((body.len() - 1, Way::Otherwise));
                    }
                }
            }
            Test::IsNot { argument, bits, values } => {
                body.extend(masked(argument, bits));
                for value in values {
                    body.push(jump(JUMP_IF_EQUAL, *value, 0, 0));
                    leaving.push((body.len() - 1, Way::IfTrue));
                }
            }
            Test::IsGiven { argument } => {
                let [low, high] = halves(argument);
                body.push(statement(LOAD, high));
                body.push(jump(JUMP_IF_EQUAL, 0, 0, 2));
                body.push(statement(LOAD, low));
                body.push(jump(JUMP_IF_EQUAL, 0, 0, 0));
                leaving.push((body.len() - 1, Way::IfTrue));
            }
        }
    }
    body.push(statement(RETURN, rule.answer.encoded()));
    let end = body.len();
    for (place, way) in leaving {
        if let Some(instruction) = body.get_mut(place) {
            let distance = short(end - place - 1);
            match way {
                Way::IfTrue => instruction.jt = distance,
                Way::Otherwise => instruction.jf = distance,
            }
        }
    }
    if !rule.tests.is_empty() {
        body.push(statement(LOAD, NUMBER));
    }
    let mut block = vec![jump(JUMP_IF_EQUAL, number, 0, short(body.len()))];
    block.append(&mut body);
    block
}

enum Way {
    IfTrue,
    Otherwise,
}

fn masked(argument: u32, bits: u32) -> Vec<sock_filter> {
    let [low, _] = halves(argument);
    let mut instructions = vec![statement(LOAD, low)];
    if bits != u32::MAX {
        instructions.push(statement(AND, bits));
    }
    instructions
}

/// Where the two halves of an argument are; both processors have the lower one first.
fn halves(argument: u32) -> [u32; 2] {
    let low = ARGUMENTS + 8 * argument;
    [low, low + 4]
}

impl Answer {
    fn encoded(self) -> u32 {
        match self {
            Self::Errno(errno) => libc::SECCOMP_RET_ERRNO | errno.unsigned_abs(),
            Self::Supervisor => libc::SECCOMP_RET_USER_NOTIF,
        }
    }
}

fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// A block is far shorter than a jump can be long; one that is not would jump to a wrong place.
#[expect(
    clippy::expect_used,
    reason = "the tables of rules are constants, and tests write them all"
)]
fn short(distance: usize) -> u8 {
    u8::try_from(distance).expect("a rule of at most 255 instructions")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::landlock::calls;

    /// What the kernel would do with a program: each instruction as its documentation says.
    pub(in crate::landlock) fn interpret(
        program: &[sock_filter],
        audit: u32,
        number: u32,
        arguments: [u64; 6],
    ) -> u32 {
        let word = |at: u32| -> u32 {
            match at {
                NUMBER => number,
                PROCESSOR => audit,
                _ => {
                    let offset = at - ARGUMENTS;
                    let argument = arguments[(offset / 8) as usize];
                    if offset.is_multiple_of(8) { argument as u32 } else { (argument >> 32) as u32 }
                }
            }
        };
        let (mut accumulator, mut at) = (0_u32, 0_usize);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            match code {
                LOAD => accumulator = word(k),
                AND => accumulator &= k,
                JUMP_IF_EQUAL => at += usize::from(if accumulator == k { jt } else { jf }),
                JUMP_IF_NOT_BELOW => at += usize::from(if accumulator >= k { jt } else { jf }),
                RETURN => return k,
                other => panic!("instruction {other:#x} is not one of ours"),
            }
        }
    }

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
    const DENIED: u32 = libc::SECCOMP_RET_ERRNO | 13;

    fn rule(tests: &[Test]) -> Vec<Rule> {
        vec![Rule { call: calls::SOCKET, tests: tests.to_vec(), answer: Answer::Errno(13) }]
    }

    #[test]
    fn each_instruction_is_where_it_belongs() {
        let test = Test::Is { argument: 1, bits: 0xf, values: &[2, 3] };
        let listing: Vec<_> = write(Processor::X86_64, &rule(&[test]))
            .iter()
            .map(|step| format!("{:02x} {} {} {:x}", step.code, step.jt, step.jf, step.k))
            .collect();
        assert_eq!(
            listing,
            [
                "20 0 0 4",        // the processor
                "15 1 0 c000003e", // ours: go on behind the end
                "06 0 0 80000000", // another one: end of the process
                "20 0 0 0",        // the number of the call
                "35 0 1 40000000", // not below the other numbering
                "06 0 0 50001",
                "15 0 6 29",    // socket, else behind the block
                "20 0 0 18",    // its second argument
                "54 0 0 f",     // these bits
                "15 1 0 2",     // the first value: to the answer
                "15 0 1 3",     // the last value, else past the answer
                "06 0 0 5000d", // the answer
                "20 0 0 0",     // the number, for what follows
                "06 0 0 7fff0000"
            ]
        );
    }

    #[test]
    fn every_test_answers_for_its_argument() {
        let high = |low: u64| 0xdead_beef_0000_0000 | low;
        for (tests, arguments, expected) in [
            (&[][..], [0; 6], DENIED),
            (
                &[Test::Is { argument: 0, bits: u32::MAX, values: &[1, 2] }],
                [1, 0, 0, 0, 0, 0],
                DENIED,
            ),
            (
                &[Test::Is { argument: 0, bits: u32::MAX, values: &[1, 2] }],
                [2, 0, 0, 0, 0, 0],
                DENIED,
            ),
            (
                &[Test::Is { argument: 0, bits: u32::MAX, values: &[1, 2] }],
                [3, 1, 2, 0, 0, 0],
                ALLOWED,
            ),
            // The upper half of a number is nothing to the kernel.
            (
                &[Test::Is { argument: 0, bits: u32::MAX, values: &[1] }],
                [high(1), 0, 0, 0, 0, 0],
                DENIED,
            ),
            (
                &[Test::Is { argument: 2, bits: 0xf, values: &[2] }],
                [0, 0, 0x8_0802, 0, 0, 0],
                DENIED,
            ),
            (
                &[Test::Is { argument: 2, bits: 0xf, values: &[2] }],
                [2, 2, 0x8_0801, 2, 2, 2],
                ALLOWED,
            ),
            (
                &[Test::IsNot { argument: 5, bits: u32::MAX, values: &[1, 2] }],
                [0, 0, 0, 0, 0, 3],
                DENIED,
            ),
            (
                &[Test::IsNot { argument: 5, bits: u32::MAX, values: &[1, 2] }],
                [0, 0, 0, 0, 0, 1],
                ALLOWED,
            ),
            (
                &[Test::IsNot { argument: 5, bits: u32::MAX, values: &[1, 2] }],
                [0, 0, 0, 0, 0, 2],
                ALLOWED,
            ),
            (&[Test::IsNot { argument: 3, bits: 4, values: &[0] }], [0, 0, 0, 5, 0, 0], DENIED),
            (&[Test::IsNot { argument: 3, bits: 4, values: &[0] }], [0, 0, 0, 3, 0, 0], ALLOWED),
            // A pointer has both halves.
            (&[Test::IsGiven { argument: 4 }], [1, 1, 1, 1, 0, 1], ALLOWED),
            (&[Test::IsGiven { argument: 4 }], [0, 0, 0, 0, 1, 0], DENIED),
            (&[Test::IsGiven { argument: 4 }], [0, 0, 0, 0, 1 << 32, 0], DENIED),
        ] {
            for processor in [Processor::X86_64, Processor::Aarch64] {
                let program = write(processor, &rule(tests));
                let number = calls::SOCKET.on(processor).unwrap();
                let seen = interpret(&program, processor.audit(), number, arguments);
                assert_eq!(seen, expected, "{tests:?} {arguments:x?}");
                let other = interpret(&program, processor.audit(), number + 1, arguments);
                assert_eq!(other, ALLOWED, "another call is none of this rule's");
            }
        }
    }

    #[test]
    fn tests_hold_together_and_rules_one_after_another() {
        let is =
            |argument, value: &'static [u32]| Test::Is { argument, bits: u32::MAX, values: value };
        let mut rules = rule(&[is(0, &[1]), is(1, &[2])]);
        rules.push(Rule {
            call: calls::SOCKET,
            tests: vec![is(0, &[1])],
            answer: Answer::Supervisor,
        });
        rules.push(Rule { call: calls::BIND, tests: Vec::new(), answer: Answer::Errno(13) });
        let program = write(Processor::X86_64, &rules);
        let ask = |number, arguments| interpret(&program, 0xC000_003E, number, arguments);
        assert_eq!(ask(41, [1, 2, 0, 0, 0, 0]), DENIED);
        assert_eq!(ask(41, [1, 3, 0, 0, 0, 0]), libc::SECCOMP_RET_USER_NOTIF);
        assert_eq!(ask(41, [2, 2, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(ask(49, [2, 2, 0, 0, 0, 0]), DENIED);
        assert_eq!(ask(42, [1, 2, 0, 0, 0, 0]), ALLOWED);
    }

    #[test]
    fn other_processors_and_numberings_get_nothing() {
        let program = write(Processor::X86_64, &[]);
        for (audit, number, expected) in [
            (0xC000_003E, 39, ALLOWED),
            (0xC000_003E, X32 + 39, libc::SECCOMP_RET_ERRNO | 1),
            (0xC000_003E, u32::MAX, libc::SECCOMP_RET_ERRNO | 1),
            (0x4000_0003, 39, libc::SECCOMP_RET_KILL_PROCESS),
            (0xC000_00B7, 39, libc::SECCOMP_RET_KILL_PROCESS),
        ] {
            assert_eq!(
                interpret(&program, audit, number, [0; 6]),
                expected,
                "{audit:x} {number:x}"
            );
        }
    }
}

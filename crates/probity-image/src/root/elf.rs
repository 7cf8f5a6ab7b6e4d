//! What a program or library asks of its loader, and which symbol versions it offers.

use object::{
    Endianness,
    elf::{self, FileHeader32, FileHeader64},
    read::elf::{FileHeader, ProgramHeader as _},
};

/// Larger programs exist, but none whose headers are worth so much memory.
pub(crate) const LARGEST: u64 = 512 << 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    /// 32 or 64, and the machine: a library of another kind is passed over.
    pub(crate) class: (u8, u16),
    pub(crate) interpreter: Option<String>,
    pub(crate) needed: Vec<String>,
    pub(crate) search: Vec<String>,
    /// Versions that a needed library must offer.
    pub(crate) wanted_versions: Vec<(String, String)>,
    pub(crate) offered_versions: Vec<String>,
}

/// None if it is not an ELF file, or a broken one.
pub(crate) fn parse(data: &[u8]) -> Option<Elf> {
    match data.get(..5)? {
        [0x7f, b'E', b'L', b'F', 2] => read::<FileHeader64<Endianness>>(data, 64),
        [0x7f, b'E', b'L', b'F', 1] => read::<FileHeader32<Endianness>>(data, 32),
        _ => None,
    }
}

fn read<Header: FileHeader<Endian = Endianness>>(data: &[u8], bits: u8) -> Option<Elf> {
    let header = Header::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let machine: u16 = header.e_machine(endian).0;
    let mut found = Elf { class: (bits, machine), ..Elf::default() };
    for segment in header.program_headers(endian, data).ok()? {
        if let Ok(Some(name)) = segment.interpreter(endian, data) {
            found.interpreter = Some(text(name));
        }
    }
    let sections = header.sections(endian, data).ok()?;
    let dynamic = sections.dynamic_table(endian, data).ok()?;
    for entry in dynamic.iter() {
        let Ok(value) = dynamic.string(entry) else { continue };
        match entry.tag {
            elf::DT_NEEDED => found.needed.push(text(value)),
            elf::DT_RPATH | elf::DT_RUNPATH => {
                found.search.extend(text(value).split(':').map(str::to_owned));
            }
            _ => {}
        }
    }
    if let Ok(Some((needs, link))) = sections.gnu_verneed(endian, data) {
        let strings = sections.strings(endian, data, link).ok()?;
        for (need, versions) in needs.filter_map(Result::ok) {
            let Ok(file) = need.file(endian, strings) else { continue };
            let names = versions.filter_map(Result::ok);
            let weak = elf::VER_FLG_WEAK;
            let firm =
                names.filter(|version| version.vna_flags.get(endian) & weak == Default::default());
            let names = firm.filter_map(|version| version.name(endian, strings).ok());
            found.wanted_versions.extend(names.map(|name| (text(file), text(name))));
        }
    }
    if let Ok(Some((definitions, link))) = sections.gnu_verdef(endian, data) {
        let strings = sections.strings(endian, data, link).ok()?;
        for (_, mut names) in definitions.filter_map(Result::ok) {
            let Ok(Some(name)) = names.next() else { continue };
            found.offered_versions.extend(name.name(endian, strings).ok().map(text));
        }
    }
    Some(found)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

//! Which libraries the built programs need, in the words of each kind of package.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Failure;
use crate::bundle::output;

/// Debian's packages, with the versions that have what is used.
pub(super) fn for_deb(programs: &[PathBuf]) -> Result<Vec<String>, Failure> {
    // It wants to be called in a source package.
    let folder = programs.first().ok_or("Nothing is packed")?.with_file_name("shlibdeps");
    fs::create_dir_all(folder.join("debian"))
        .and_then(|()| {
            fs::write(folder.join("debian/control"), "Source: ringonce\n\nPackage: ringonce\nArchitecture: any\n")
        })
        .map_err(|error| format!("{} cannot be written: {error}", folder.display()))?;
    let said = output(Command::new("dpkg-shlibdeps").current_dir(&folder).arg("-O").args(programs))?;
    let packages = depends(&said);
    if packages.is_empty() { Err(format!("dpkg-shlibdeps names no packages: {said}")) } else { Ok(packages) }
}

/// Libraries by their own names: how packages are called differs among the distributions that use RPM.
pub(super) fn for_rpm(programs: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let mut needs = Vec::new();
    for program in programs {
        needs.extend(sonames(&output(Command::new("readelf").args(["--wide", "--dynamic"]).arg(program))?));
        needs.extend(libc(&output(Command::new("readelf").args(["--wide", "--version-info"]).arg(program))?));
    }
    needs.sort();
    needs.dedup();
    if needs.is_empty() { Err("readelf names no libraries".to_owned()) } else { Ok(needs) }
}

/// Of `shlibs:Depends=a (>= 1), b`.
fn depends(said: &str) -> Vec<String> {
    let line = said.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    line.into_iter().flat_map(|line| line.split(", ")).map(str::to_owned).collect()
}

/// Of lines such as `0x1 (NEEDED)  Shared library: [libc.so.6]`. The loader is not a library that is asked for.
fn sonames(said: &str) -> Vec<String> {
    let lines = said.lines().filter(|line| line.contains("(NEEDED)"));
    let names = lines.filter_map(|line| line.split_once('[')?.1.split_once(']')).map(|(name, _)| name);
    names.filter(|name| !name.starts_with("ld-linux")).map(|name| format!("{name}()(64bit)")).collect()
}

/// The newest version of the C library that something in the program asks for.
fn libc(said: &str) -> Option<String> {
    let names = said.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_"));
    let versions = names.filter_map(|name| name.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>());
    let newest = versions.max()?;
    let newest: Vec<String> = newest.iter().map(u32::to_string).collect();
    Some(format!("libc.so.6(GLIBC_{})(64bit)", newest.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tools_print_is_read() {
        let said = "x\nshlibs:Depends=libc6 (>= 2.34), libgcc-s1 (>= 4.2)\n";
        assert_eq!(depends(said), ["libc6 (>= 2.34)", "libgcc-s1 (>= 4.2)"]);
        assert_eq!(depends("nothing"), [""; 0]);
        let dynamic = " 0x0001 (NEEDED)  Shared library: [libc.so.6]\n 0x0001 (NEEDED) Shared library: \
                       [ld-linux-x86-64.so.2]\n 0x000e (SONAME) Library soname: [x.so]";
        assert_eq!(sonames(dynamic), ["libc.so.6()(64bit)"]);
        let versions = "Name: GLIBC_2.4  Flags: none\nName: GLIBC_2.34 \nName: GLIBC_PRIVATE GCC_4.2";
        assert_eq!(libc(versions).as_deref(), Some("libc.so.6(GLIBC_2.34)(64bit)"));
    }
}

use clap::CommandFactory;

use super::*;

/// Collects every executable command with its full name.
fn leaves(command: &clap::Command, name: &str, found: &mut Vec<(String, clap::Command)>) {
    let inner: Vec<_> = command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
        .collect();
    if inner.is_empty() {
        found.push((name.to_owned(), command.clone()));
    }
    for one in inner {
        leaves(one, &format!("{name} {}", one.get_name()), found);
    }
}

#[test]
fn every_command_has_two_examples_that_it_understands() {
    let mut found = Vec::new();
    leaves(&Cli::command(), "haat", &mut found);
    assert!(found.len() > 15);
    for (name, command) in found {
        let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines: Vec<_> = shown.lines().skip(1).map(str::trim).collect();
        assert_eq!(lines.len(), 2, "{name}: {shown}");
        for line in lines {
            assert!(line.starts_with(&name), "{name}: {line}");
            // The line is split like in a shell: quoted words stay together.
            let line = line.split(['>', '|']).next().unwrap();
            let words = line.split('"').enumerate().flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            });
            let parsed = Cli::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
        }
    }
}

#[test]
fn options_of_every_command_stand_under_a_heading_of_their_own() {
    let mut cli = Cli::command();
    cli.build();
    let help = cli.find_subcommand_mut("doctor").unwrap().render_help().to_string();
    let (own, global) = help.split_once("Global options:").unwrap();
    assert!(own.contains("--thorough") && !own.contains("--home"), "{help}");
    assert!(global.contains("--home") && global.contains("--quiet"), "{help}");
}

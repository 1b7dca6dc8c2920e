// Lists commands in the help of `zonefleet`, and loads the code of those that are used.

import type { Command } from 'commander';
import type { Cli } from './cli.ts';

export interface Commands {
  /** Descriptions of top-level commands. The keys are as in the help, such as `check [options] <name>`. */
  readonly listed: Readonly<Record<string, string>>;
  /** Names of top-level commands of other parts to which `load` adds subcommands. */
  readonly extended?: readonly string[];
  /** Loads the code of the commands, which adds their arguments, options and actions. */
  readonly load: () => Promise<AddCommands>;
}

type AddCommands = (program: Command, cli: Cli) => void;

/** Returns the top-level command with this name. Creates it if the program does not list it, as in a test of one part. */
export function commandOf(program: Command, name: string): Command {
  return program.commands.find((command) => command.name() === name) ?? program.command(name);
}

/** Returns the terms of the help by name of the command. */
export function termsOf(parts: readonly Commands[]): ReadonlyMap<string, string> {
  const terms = parts.flatMap(({ listed }) => Object.keys(listed));
  return new Map(terms.map((term) => [nameOf(term), term]));
}

/** Lists all commands, and loads only those that the arguments use: loading all of them takes longer than most commands. */
export async function addCommands(
  program: Command,
  cli: Cli,
  { parts, args }: { readonly parts: readonly Commands[]; readonly args: readonly string[] },
): Promise<void> {
  for (const { listed } of parts) {
    for (const [term, description] of Object.entries(listed))
      commandOf(program, nameOf(term)).description(description);
  }
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const used = first === 'help' ? second : first;
  if (used === undefined) return;
  for (const { listed, extended = [], load } of parts) {
    if ([...Object.keys(listed).map(nameOf), ...extended].includes(used)) (await load())(program, cli);
  }
}

function nameOf(term: string): string {
  return term.replace(/ .*/, '');
}

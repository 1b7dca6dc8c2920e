// Formats commands and options for `--help`.

import { type Command, Help, type HelpConfiguration, type Option } from 'commander';

/** Marks mandatory options as required. `terms` has the terms of top-level commands, whose options are not loaded. */
export function helpStyle(terms: ReadonlyMap<string, string>): HelpConfiguration {
  return {
    showGlobalOptions: true,
    optionDescription(option: Option): string {
      const description = Help.prototype.optionDescription.call(this, option);
      return option.mandatory ? `${description} (required)` : description;
    },
    subcommandTerm(command: Command): string {
      const term = command.parent?.parent === null ? terms.get(command.name()) : undefined;
      return term ?? Help.prototype.subcommandTerm.call(this, command);
    },
  };
}

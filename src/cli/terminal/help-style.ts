// How `--help` prints options.

import { Help, type HelpConfiguration, type Option } from 'commander';

/** Marks mandatory options as required. */
export const HELP_STYLE: HelpConfiguration = {
  showGlobalOptions: true,
  optionDescription(option: Option): string {
    const description = Help.prototype.optionDescription.call(this, option);
    return option.mandatory ? `${description} (required)` : description;
  },
};

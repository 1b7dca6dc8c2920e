// Writes the manual pages: zonefleet(1) from the definitions of the commands, zonefleet.env(5) from docs/settings.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, type Option } from 'commander';
import { CORE_COMMANDS } from '../../src/cli/core-commands.ts';
import type { Cli } from '../../src/cli/terminal/cli.ts';
import { commandOf } from '../../src/cli/terminal/commands.ts';
import { FEATURES } from '../../src/features/every-feature.ts';
import { SECRET_OF_FILE } from '../../src/process/settings/every-setting.ts';
import type { Build } from './build.ts';

const SETTING = /^\| `([A-Z0-9_]+)` \| (.+?) \| (.+?) \| (.+) \|$/gm;

/** Returns the page of the command line in the format of man(7). */
export async function commandPage(build: Build): Promise<string> {
  const program = new Command('zonefleet');
  const parts = [...CORE_COMMANDS, ...FEATURES.flatMap(({ commands }) => commands ?? [])];
  for (const { listed } of parts) {
    for (const [term, description] of Object.entries(listed))
      commandOf(program, term.replace(/ .*/, '')).description(description);
  }
  // The actions, which would use it, are not run.
  for (const { load } of parts) (await load())(program, {} as Cli);
  return page('zonefleet', 1, build, [
    '.SH NAME',
    'zonefleet \\- operate a fleet of authoritative nameservers',
    '.SH SYNOPSIS',
    '.B zonefleet',
    '[\\fB\\-\\-json\\fR]',
    '.I command',
    '[\\fIargument\\fR ...]',
    '.SH DESCRIPTION',
    text(
      'Commands read their settings from the environment and from /etc/zonefleet/cli.env, if they may read it. The environment takes precedence. zonefleet run reads the environment only.',
    ),
    '.SH OPTIONS',
    '.TP',
    '\\fB\\-\\-json\\fR',
    text('Print one JSON document instead of text.'),
    '.TP',
    '\\fB\\-\\-version\\fR',
    text('Print the version and the commit.'),
    '.TP',
    '\\fB\\-\\-help\\fR',
    text('Print the commands, or the options of a command.'),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => describe(command, 'zonefleet')),
    '.SH EXIT STATUS',
    text('0: success or yes. 1: no or refused. 2: usage error or failure.'),
    '.SH FILES',
    '.TP',
    '.I /etc/zonefleet/cli.env',
    text('Settings of the command line.'),
    '.TP',
    '.I /etc/zonefleet/nameserver.env, api.env, workers.env, vantage.env',
    text('Settings of the services.'),
    '.SH SEE ALSO',
    '.BR zonefleet.env (5)',
  ]);
}

function describe(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  if (command.commands.length > 0)
    return [
      `.SS ${bold(name)}`,
      text(sentence(command.description())),
      ...command.commands.flatMap((each) => describe(each, name)),
    ];
  const words = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? ' ...' : ''}`;
    return argument.required ? word : `[${word}]`;
  });
  return [
    '.TP',
    `\\fB${roff(name)}\\fR ${words.map((word) => `\\fI${roff(word)}\\fR`).join(' ')}`.trim(),
    text(sentence(command.description())),
    ...command.options.filter(({ hidden }) => !hidden).flatMap(describeOption),
  ];
}

function describeOption(option: Option): string[] {
  const required = option.mandatory ? ' Required.' : '';
  return ['.RS', '.TP', bold(option.flags), text(sentence(option.description) + required), '.RE'];
}

/** Returns the page of the settings in the format of man(7). */
export function settingsPage(root: string, build: Build): string {
  const table = readFileSync(join(root, 'docs/settings.md'), 'utf8');
  const rows = [...table.matchAll(SETTING)].map(([, name = '', byDefault = '', readers = '', is = '']) => [
    '.TP',
    bold(name),
    text(sentence(plain(is))),
    '.br',
    text(`Default: ${plain(byDefault)}. Read by: ${plain(readers)}.`),
  ]);
  return page('zonefleet.env', 5, build, [
    '.SH NAME',
    'zonefleet.env \\- settings of Zonefleet',
    '.SH DESCRIPTION',
    text(
      'Each file in /etc/zonefleet has lines NAME=value. A line that begins with # is a comment. A value with spaces or # is put in double quotes. A service reads its file when it starts: restart it after a change.',
    ),
    '.SH SECRETS FROM FILES',
    text(
      `A secret can be in a file instead: NAME_FILE=path names a file that contains only the value, for example DATABASE_URL_FILE=/run/secrets/database-url. These settings accept it: ${[...SECRET_OF_FILE.values()].sort().join(', ')}.`,
    ),
    '.SH SETTINGS',
    ...rows.flat(),
    '.SH FILES',
    '.TP',
    '.I /etc/zonefleet/nameserver.env, api.env, workers.env, vantage.env',
    text('Settings of the services.'),
    '.TP',
    '.I /etc/zonefleet/cli.env',
    text('Settings of the command line.'),
    '.TP',
    '.I /usr/share/doc/zonefleet/docs',
    text('The documents to which this page refers.'),
    '.SH SEE ALSO',
    '.BR zonefleet (1)',
  ]);
}

function page(name: string, section: number, { version, epoch }: Build, lines: readonly string[]): string {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  return `${[`.TH ${name.toUpperCase()} ${section} ${date} "Zonefleet ${version}"`, ...lines].join('\n')}\n`;
}

/** Removes the syntax of Markdown. A link to a section of the settings names their document. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, '"$1" in settings.md')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll('\\|', '|');
}

function sentence(words: string): string {
  const first = /^[a-z]+(?=[ ,.;]|: |$)/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function bold(words: string): string {
  return `\\fB${roff(words)}\\fR`;
}

/** Escapes text for man(7). */
function roff(words: string): string {
  return words.replaceAll('\\', '\\e').replaceAll('-', '\\-');
}

/** A line must not begin with a control character. */
function text(words: string): string {
  return roff(words).replace(/^(?=[.'])/, '\\&');
}

// The command line `zonefleet …`: parses the arguments, runs one command, and reports errors. Exit codes: 0 success or yes,
// 1 no or refused, 2 usage error or failure.

import { Command, CommanderError } from 'commander';
import { FEATURES } from '../features/every-feature.ts';
import { printBuild, readBuild } from '../process/build.ts';
import type { SettingsOf } from '../process/settings/read-settings.ts';
import { CORE_COMMANDS } from './core-commands.ts';
import { Cli, type CliSettings } from './terminal/cli.ts';
import { addCommands, termsOf } from './terminal/commands.ts';
import { explainFailure, Failure } from './terminal/failure.ts';
import { helpStyle } from './terminal/help-style.ts';
import { Output } from './terminal/output.ts';

const FAILED = 2;

async function run(args: readonly string[]): Promise<number> {
  const output = new Output(optionsOf(args).includes('--json'));
  const cli = new Cli(output, readSettings);
  try {
    await (await programFor(cli, args)).parseAsync(args, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return await endUsage(error, output);
    return await endFailure(explainFailure(error), output);
  }
}

async function programFor(cli: Cli, args: readonly string[]): Promise<Command> {
  const parts = [...CORE_COMMANDS, ...FEATURES.flatMap(({ commands }) => commands ?? [])];
  const program = new Command('zonefleet')
    .description('operate Zonefleet: domains, accounts, keys, plans, zones, nodes, schema')
    .option('--json', 'print one JSON document instead of text')
    .version(printBuild(readBuild()), '--version')
    .configureHelp(helpStyle(termsOf(parts)))
    .configureOutput({ outputError: () => {} }) // endUsage prints errors, as JSON if requested
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', '\nExit codes: 0 success or yes, 1 no or refused, 2 usage error or failure.');
  await addCommands(program, cli, { parts, args });
  return program;
}

async function readSettings(): Promise<CliSettings> {
  const { SettingsError, readSettings } = await import('../process/settings/read-settings.ts');
  try {
    const settings: SettingsOf<'CLI'> = readSettings(process.env, 'CLI');
    return settings;
  } catch (error) {
    if (error instanceof SettingsError)
      throw new Failure('settings', error.faults.join('; '), { cause: error });
    throw error;
  }
}

async function endUsage(error: CommanderError, output: Output): Promise<number> {
  if (error.exitCode === 0) return 0; // help or version was requested
  if (error.code === 'commander.help') return FAILED; // a group without a command: commander has printed the help
  return await endFailure(
    new Failure('usage', error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')),
    output,
  );
}

async function endFailure(failure: Failure, output: Output): Promise<number> {
  const { code, message, cause } = failure;
  if (output.json) await output.complain(JSON.stringify({ error: { code, message } }));
  else await output.complain(`zonefleet: ${message}`);
  // An unexpected error is a bug: a bug report needs its stack.
  if (code === 'internal' && process.env.ZONEFLEET_STACK === '1')
    await output.complain(String((cause as Error).stack));
  return FAILED;
}

function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

void run(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});

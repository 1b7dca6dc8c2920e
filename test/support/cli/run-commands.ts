// Runs one group of commands in this process: equivalent to `runCli`, without the second that a separate process takes to
// start.

import { Command, CommanderError } from 'commander';
import { Cli, type CliSettings } from '../../../src/cli/terminal/cli.ts';
import { explainFailure } from '../../../src/cli/terminal/failure.ts';
import { TEST_SETTINGS } from '../database/database.ts';
import { captureOutput } from '../tests/captured-output.ts';
import type { CliRun } from './run-cli.ts';

class TestCli extends Cli {
  interrupt = new AbortController().signal;

  override interruptible(): AbortSignal {
    return this.interrupt;
  }
}

export async function runCommands(
  add: (program: Command, cli: Cli) => void,
  args: readonly string[],
  databaseUrl: string | undefined,
  { interrupt, ...settings }: Partial<CliSettings> & { readonly interrupt?: AbortSignal } = {},
): Promise<CliRun> {
  const captured = captureOutput(args.includes('--json'));
  const cli = new TestCli(captured.output, async () => ({
    databaseUrl,
    dataDirectory: '/nonexistent/zonefleet',
    answers: TEST_SETTINGS,
    allowReservedNames: false,
    publicUrl: 'https://dns.zonefleet.test',
    redisUrl: undefined,
    rootHints: undefined,
    dnsPortOut: 53,
    resolverAllow: [],
    publicResolvers: [],
    ...settings,
  }));
  if (interrupt !== undefined) cli.interrupt = interrupt;
  const program = new Command('zonefleet')
    .option('--json')
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  add(program, cli);
  try {
    await program.parseAsync(args, { from: 'user' });
    return { code: cli.exitCode, stdout: captured.out, stderr: captured.err };
  } catch (error) {
    const { message } = error instanceof CommanderError ? error : explainFailure(error);
    return { code: 2, stdout: captured.out, stderr: `${captured.err}zonefleet: ${message}\n` };
  }
}

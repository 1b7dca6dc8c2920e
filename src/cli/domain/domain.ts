// The commands of `zonefleet domain`, with their options and help. The code of a command is imported when it runs.

import { type Command, Option } from 'commander';
import type { CheckJob } from '../../jobs/jobs.ts';
import {
  DNS_MODES,
  type DnsMode,
  DOMAIN_STATUSES,
  type DomainStatus,
} from '../../zone/domain/domain-status.ts';
import type { Cli } from '../terminal/cli.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { type OwnerOption, ownerOption, withOwner } from '../terminal/with-owner.ts';
import { addApproveCommand, addReserveSetCommand } from './approve-commands.ts';
import { addCreateCommand } from './create-command.ts';
import type { ExportFormat } from './export-domain.ts';
import { addMoveCommand } from './hand-over.ts';
import type { ImportOptions } from './import-records.ts';
import type { DomainMove } from './move-domain.ts';
import { type NamesOptions, onNames, runOnNames } from './on-names.ts';
import { addPlanCommand } from './plan-domain.ts';
import { addShareCommands } from './share-commands.ts';

interface RestoreOptions extends NamesOptions {
  readonly id?: string;
}

interface ListOptions {
  readonly account?: string;
  readonly status?: string;
  readonly mode?: DnsMode;
  readonly search?: string;
  readonly deleted?: true;
}

interface ImportCommand extends ImportOptions, OwnerOption {
  readonly directory?: string;
}

const MOVES: readonly [DomainMove['kind'], string][] = [
  ['delete', 'delete domains; they can be restored for 30 days'],
  ['disable', 'stop serving domains; their owners can enable them again'],
  ['enable', 'serve disabled domains again'],
  ['ban', 'stop serving domains; their owners can only view them'],
  ['unban', 'lift a ban'],
  ['suspend', 'mark domains as unpaid; DNS does not change'],
  ['resume', 'end a suspension'],
];

export function addDomainCommands(program: Command, cli: Cli): void {
  const domain = commandOf(program, 'domain');
  addListCommand(domain, cli);
  addShowCommand(domain, cli);
  addCreateCommand(domain, cli);
  for (const [kind, description] of MOVES) {
    ownerOption(onNames(domain, kind, description)).action((names: string[], options: NamesOptions) =>
      runMove(cli, { kind }, names, options),
    );
  }
  addApproveCommand(domain, cli);
  addReserveSetCommand(domain, cli);
  addMoveCommand(domain, cli);
  addRestoreCommand(domain, cli);
  addCheckCommand(domain, cli);
  addImportCommand(domain, cli);
  addExportCommand(domain, cli);
  addPlanCommand(domain, cli);
  addShareCommands(domain, cli);
}

async function runMove(
  cli: Cli,
  move: DomainMove,
  names: readonly string[],
  options: NamesOptions,
): Promise<void> {
  const { MOVED, moveDomain } = await import('./move-domain.ts');
  await runOnNames(cli, { names, outcome: MOVED[move.kind], ...options }, (db, name, owner) =>
    cli.audited(db, 'domain.suspend', (trx, tell) =>
      moveDomain(trx, name, move, { ...cli.changedBy(), ...owner, tell }),
    ),
  );
}

function addCheckCommand(domain: Command, cli: Cli): void {
  const command = domain
    .command('check')
    .description('check the delegation of domains now; exit 1 if any is refused or does not match')
    .argument('[name...]', "the domains' names")
    .option('--file <file>', 'more names, one per line, # starts a comment; - for standard input');
  ownerOption(command).action(async (names: string[], { file, ...options }: NamesOptions) => {
    const { checkDomain } = await import('./check-domain.ts');
    const { collectDomainNames } = await import('../terminal/collect-domain-names.ts');
    const { workOnDomains } = await import('../terminal/work-on-domains.ts');
    const domains = await collectDomainNames({ names, file });
    const signal = cli.interruptible();
    const { CHECK_DELEGATION } = await import('../../jobs/jobs.ts');
    await cli.withQueue(CHECK_DELEGATION, (db, queue) =>
      withOwner(db, options, cli.output, (owner) => {
        const enqueue = (job: CheckJob) => queue.enqueueNow(job);
        const act = (wanted: WantedDomain) => checkDomain(db, wanted, { enqueue, signal, ...owner });
        return workOnDomains({ domains, outcome: 'checked', act, signal }, cli.output);
      }),
    );
  });
}

function addRestoreCommand(domain: Command, cli: Cli): void {
  onNames(domain, 'restore', 'restore deleted domains with their records')
    .option('--account <account>', 'only those of this owner (email or id)')
    .option('--id <id>', 'only the one with this id (`domain list --deleted` shows it)')
    .action(async (names: string[], { id, ...options }: RestoreOptions) => {
      const { restoreDomain } = await import('./restore-domain.ts');
      const byId = id === undefined ? {} : { id: idOf(id) };
      if (id !== undefined && (names.length !== 1 || options.file !== undefined))
        throw new Failure('usage', '--id requires exactly one name');
      await runOnNames(cli, { names, outcome: 'restored', ...options }, (db, name, owner) =>
        restoreDomain(db, name, { ...byId, ...owner }, cli.changedBy()),
      );
    });
}

function addListCommand(domain: Command, cli: Cli): void {
  domain
    .command('list')
    .description('list domains')
    .option('--account <account>', 'only those of this owner (email or id)')
    .option('--status <statuses>', `only these, separated by commas: ${DOMAIN_STATUSES.join(', ')}`)
    .addOption(new Option('--mode <mode>', 'only this mode').choices(DNS_MODES))
    .option('--search <text>', 'only names that contain this')
    .option('--deleted', 'only deleted domains that can be restored')
    .action(async ({ account, status, mode, search, deleted }: ListOptions) => {
      const { listDomains } = await import('./list-domains.ts');
      const filter = {
        ...(status !== undefined && { statuses: statusesOf(status) }),
        ...(mode !== undefined && { dnsMode: mode }),
        ...(search !== undefined && { search }),
        ...(deleted && { deleted }),
      };
      await cli.withStore((db) => listDomains(db, { account, filter }, cli.output));
    });
}

function addImportCommand(domain: Command, cli: Cli): void {
  const command = domain
    .command('import')
    .description('import records from a zone file or Route 53 JSON; exit 1 if a line or a record is wrong')
    .argument('[name]', "the domain's name")
    .argument('[file]', 'the file; - for standard input')
    .option('--directory <path>', 'import each file NAME.zone of a directory into the domain NAME instead')
    .addOption(
      new Option('--dots <how>', 'add: treat hosts and owners without a final dot as full names').choices([
        'add',
      ]),
    )
    .option('--dry-run', 'print what would be done, without doing it');
  ownerOption(command).action((name: string | undefined, file: string | undefined, options: ImportCommand) =>
    runImport(cli, name, file, options),
  );
}

async function runImport(
  cli: Cli,
  name: string | undefined,
  file: string | undefined,
  { directory, dots, dryRun, ...options }: ImportCommand,
): Promise<void> {
  const { importDirectory, importRecords, readImportFile } = await import('./import-records.ts');
  const order = { ...cli.changedBy(), ...(dots && { dots }), ...(dryRun && { dryRun }) };
  if (directory !== undefined) {
    if (name !== undefined) throw new Failure('usage', 'give a domain and a file, or --directory');
    const signal = cli.interruptible();
    await cli.withStore((db) =>
      withOwner(db, options, cli.output, (owner) =>
        importDirectory(db, directory, { ...order, owner, signal }, cli.output),
      ),
    );
    return;
  }
  if (name === undefined || file === undefined)
    throw new Failure('usage', 'give a domain and a file, or --directory');
  const { onOneDomain } = await import('../terminal/on-one-domain.ts');
  const text = await readImportFile(file);
  await cli.withStore((db) =>
    onOneDomain(db, name, options, cli.output, (found) => importRecords(db, found, text, order, cli.output)),
  );
}

interface ExportCommand extends OwnerOption {
  readonly format: ExportFormat;
  readonly output?: string;
}

function addExportCommand(domain: Command, cli: Cli): void {
  const command = domain
    .command('export')
    .description('write the records of a domain, as `domain import` and other tools read them')
    .argument('<name>', "the domain's name")
    .addOption(
      new Option('--format <format>', 'zone file, zone of octoDNS, or dnsconfig.js')
        .choices(['zone', 'octodns', 'dnscontrol'])
        .default('zone'),
    )
    .option('--output <file>', 'write a file, completely or not at all, instead of stdout');
  ownerOption(command).action(async (name: string, { format, output: file, ...options }: ExportCommand) => {
    const { exportDomain } = await import('./export-domain.ts');
    const { onOneDomain } = await import('../terminal/on-one-domain.ts');
    const order = { format, file, signal: cli.interruptible() };
    await cli.withStore((db) =>
      onOneDomain(db, name, options, cli.output, (found) => exportDomain(db, found, order, cli.output)),
    );
  });
}

function addShowCommand(domain: Command, cli: Cli): void {
  const command = domain
    .command('show')
    .description('show all details of domains; exit 1 if any does not exist')
    .argument('[name...]', "the domains' names")
    .option('--file <file>', 'more names, one per line, # starts a comment; - for standard input');
  ownerOption(command).action(async (names: string[], { file, ...options }: NamesOptions) => {
    const { collectDomainNames } = await import('../terminal/collect-domain-names.ts');
    const { showDomains } = await import('./show-domains.ts');
    const domains = await collectDomainNames({ names, file });
    await cli.withStore((db) =>
      withOwner(db, options, cli.output, (owner) => showDomains(db, domains, owner, cli.output)),
    );
  });
}

function idOf(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new Failure('usage', `--id: expected an id, not "${text}"`);
  return Number(text);
}

function statusesOf(text: string): DomainStatus[] {
  return text.split(',').map((word) => {
    const status = DOMAIN_STATUSES.find((known) => known === word.trim());
    if (status === undefined) {
      throw new Failure('usage', `--status: expected ${DOMAIN_STATUSES.join(', ')}, not "${word}"`);
    }
    return status;
  });
}

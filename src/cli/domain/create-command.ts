// The command `domain create`, with its options and help. A line of `--file` may name the owner and the plan of its domain.

import { type Command, Option } from 'commander';
import { DNS_MODES, type DnsMode } from '../../zone/domain/domain-status.ts';
import type { Cli } from '../terminal/cli.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import { Failure } from '../terminal/failure.ts';
import { planOf } from '../terminal/plan-option.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';

interface CreateOptions {
  readonly file?: string;
  readonly account?: string;
  readonly approve?: true;
  readonly mode: DnsMode;
  readonly plan?: string;
  readonly scan: boolean;
  readonly transfer?: true;
  readonly dnssec?: boolean;
}

/** The owner and the plan. */
const WORDS = 2;

export function addCreateCommand(domain: Command, cli: Cli): void {
  domain
    .command('create')
    .description(
      'create domains for accounts; exit 1 if any is refused, or if an approved one is not fully served',
    )
    .argument('[name...]', "the domains' names")
    .option(
      '--file <file>',
      'more names, one per line, each followed by its owner and plan if they differ from --account and --plan; # starts a comment; - for standard input',
    )
    .option('--account <account>', "the owner's email or id")
    .option(
      '--approve',
      'accept any complete set of your nameservers in the parent zone as proof for their owners',
    )
    .addOption(new Option('--mode <mode>', 'who serves them').choices(DNS_MODES).default('managed'))
    .option('--plan <plan>', "free, pro, or none (default: the account's)")
    .option('--transfer', 'allow names that other accounts already use; these domains wait')
    .option('--dnssec', 'sign them (default: the setting DNSSEC_NEW_DOMAINS)')
    .option('--no-dnssec', 'do not sign them')
    .option('--no-scan', 'do not import the records that their current nameservers have')
    .action((names: string[], options: CreateOptions) => run(cli, names, options));
}

async function run(cli: Cli, names: readonly string[], options: CreateOptions): Promise<void> {
  const { file, account, mode, approve: isApproved = false } = options;
  if (isApproved && mode === 'external')
    throw new Failure('usage', '--approve: no delegation proves a domain in external mode');
  if (account === undefined && (names.length > 0 || file === undefined))
    throw new Failure('usage', 'the owner is missing: give --account, or an account on each line of --file');
  const { collectDomainNames } = await import('../terminal/collect-domain-names.ts');
  const { createDomain } = await import('./create-domain.ts');
  const { accountIds } = await import('../../store/accounts/accounts.ts');
  const { sharedLabels } = await import('../../store/change/lock-domain.ts');
  const { encodeNameColumn } = await import('../../store/postgres/name-column.ts');
  const { withAccount } = await import('../terminal/find-account.ts');
  const { workOnDomains } = await import('../terminal/work-on-domains.ts');
  const domains = await collectDomainNames({ names, file, words: WORDS });
  const { allowReservedNames, signsNewDomains = false } = await cli.settings();
  const signal = cli.interruptible();
  await cli.withStore((db) => {
    const idOf = accountIds(db);
    const actFor =
      (accountOfAll: number | undefined) =>
      async ({ name, unicode, words }: WantedDomain): Promise<DomainOutcome> => {
        const [owner, plan = options.plan] = words;
        const accountId = owner === undefined ? accountOfAll : await idOf(owner);
        if (accountId === undefined)
          return {
            kind: 'refused',
            code: 'no_account',
            message: owner === undefined ? 'account: is required' : `account: no account "${owner}"`,
          };
        const order = {
          ...cli.changedBy(),
          accountId,
          isApproved,
          dnsMode: mode,
          planSlug: plan === undefined ? undefined : planOf(plan),
          allowReserved: allowReservedNames,
          isScanned: options.scan,
          transfer: options.transfer === true,
          isSigned: options.dnssec ?? signsNewDomains,
        };
        return await createDomain(db, { name, unicode }, order);
      };
    // The order decides which account gets a name if names are equal or one contains the other.
    const turnOf = ({ name }: WantedDomain) => sharedLabels(encodeNameColumn(name));
    const work = (accountOfAll: number | undefined) => {
      const act = actFor(accountOfAll);
      return workOnDomains(
        { domains, outcome: isApproved ? 'approved' : 'created', act, turnOf, signal },
        cli.output,
      );
    };
    return account === undefined
      ? work(undefined)
      : withAccount(db, account, cli.output, ({ id }) => work(id));
  });
}

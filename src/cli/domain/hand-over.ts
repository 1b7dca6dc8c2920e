// `domain move`: moves domains to another account, with everything that belongs to them.

import type { Command } from 'commander';
import type { Name } from '../../dns/name.ts';
import { loadAccount } from '../../store/accounts/accounts.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import type { HandedOver, PassedDomain } from '../../store/change/hand-over.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import { ownerOption, withOwner } from '../terminal/with-owner.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { type NamesOptions, onNames } from './on-names.ts';

interface MoveOptions extends NamesOptions {
  readonly to: string;
  readonly together?: true;
  readonly withoutMembers?: true;
  readonly dryRun?: true;
}

export function addMoveCommand(domain: Command, cli: Cli): void {
  const command = onNames(domain, 'move', 'move domains to another account; DNS answers do not change')
    .requiredOption('--to <account>', 'the new owner (email or id)')
    .option('--together', 'also move domains of the account inside or around them that would be cut off')
    .option('--without-members', 'remove their members')
    .option('--dry-run', 'print what would be done, without doing it');
  ownerOption(command).action(
    async (names: string[], { to, together, withoutMembers, dryRun, ...options }: MoveOptions) => {
      const { collectDomainNames } = await import('../terminal/collect-domain-names.ts');
      const { withAccount } = await import('../terminal/find-account.ts');
      const { workOnDomains } = await import('../terminal/work-on-domains.ts');
      const domains = await collectDomainNames({ names, file: options.file });
      const signal = cli.interruptible();
      const wanted = {
        withFamily: together === true,
        withoutMembers: withoutMembers === true,
        dryRun: dryRun === true,
      };
      const outcome = wanted.dryRun ? 'would move' : 'moved';
      await cli.withStore((db) =>
        withAccount(db, to, cli.output, ({ id: accountId }) =>
          withOwner(db, options, cli.output, (owner) => {
            const act = ({ name }: WantedDomain) =>
              moveDomain(db, name, { ...wanted, ...cli.changedBy(), accountId }, owner);
            return workOnDomains({ domains, outcome, act, signal }, cli.output);
          }),
        ),
      );
    },
  );
}

interface MoveOrder extends ChangedBy {
  readonly accountId: number;
  readonly withFamily: boolean;
  readonly withoutMembers: boolean;
  readonly dryRun: boolean;
}

async function moveDomain(db: Database, name: Name, order: MoveOrder, owner: Owner): Promise<DomainOutcome> {
  const { handOver } = await import('../../store/change/hand-over.ts');
  const found = await findMoved(db, name, order.accountId, owner);
  if (found.kind === 'refused') return found;
  const came = await handOver(db, { ...order, domainId: found.domain.id });
  if (came.kind === 'absent') return { kind: 'refused', code: 'absent', message: 'no such domain' };
  if (came.kind === 'refused') return refusal(came);
  const email = (await loadAccount(db, order.accountId))?.email ?? String(order.accountId);
  return outcomeOf(came, { id: order.accountId, email }, order.dryRun);
}

/** If only the new account and one other have the name, takes the other's domain, so that a repeated command is recognized. */
async function findMoved(db: Database, name: Name, accountId: number, owner: Owner) {
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'found' || found.code !== 'absent' || owner.accountId === undefined) return found;
  const moved = await findOneDomain(db, name, { accountId });
  return moved.kind === 'found' ? moved : found;
}

function refusal({ code, message, names = [] }: Extract<HandedOver, { kind: 'refused' }>): DomainOutcome {
  const shown = names.map((name) => name.slice(0, -1));
  return {
    kind: 'refused',
    code,
    message: code === 'bound' ? `${message} (--together moves them too)` : message,
    lines: shown.map((name) => `  ${name}`),
    ...(shown.length > 0 && { members: { domains: shown } }),
  };
}

function outcomeOf(
  { domains, room }: Extract<HandedOver, { kind: 'passed' }>,
  account: { readonly id: number; readonly email: string },
  dryRun: boolean,
): DomainOutcome {
  const [first, ...others] = domains;
  const { status, serial } = first.domain;
  const isBeyond = first.changeId !== undefined && room.domains > room.limit;
  return {
    kind: 'done',
    words: [`to ${account.email}`, `status ${status}`, changeOf(first, dryRun)].join(' '),
    lines: [
      ...others.map((other) => `  with it ${nameOf(other)} ${changeOf(other, dryRun)}`),
      ...domains
        .filter(({ members }) => members > 0)
        .map((shared) => `  ${nameOf(shared)} is still shared with ${countOf(shared.members)}`),
      ...(isBeyond
        ? [`  ${account.email} now has more domains (${room.domains}) than its plan allows (${room.limit})`]
        : []),
    ],
    members: {
      id: first.domain.id,
      account,
      status,
      served: first.domain.served,
      serial,
      members: first.members,
      ...(first.changeId !== undefined && !dryRun && { change_id: first.changeId }),
      ...(others.length > 0 && {
        with: others.map((other) => ({ id: other.domain.id, domain: nameOf(other), members: other.members })),
      }),
      ...(dryRun && { dry_run: true }),
    },
  };
}

function nameOf({ domain }: PassedDomain): string {
  return printWithoutDot(domain.name);
}

function changeOf({ changeId }: PassedDomain, dryRun: boolean): string {
  if (changeId === undefined) return '(no change)';
  return dryRun ? '(dry run)' : `change ${changeId}`;
}

function countOf(members: number): string {
  return members === 1 ? 'one account' : `${members} accounts`;
}

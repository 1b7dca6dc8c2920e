// Adds, lists and revokes grants of the operator's keys.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { parseZoneName } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { type OwnerOption, withOwner } from '../../cli/terminal/with-owner.ts';
import { foldCase, parseName, printName } from '../../dns/name.ts';
import { typeCode, typeMnemonic } from '../../dns/type-codes.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadKey, lockKeys } from '../../store/transfers/keys.ts';
import {
  allowName,
  findTargets,
  type GrantTarget,
  listOperatorGrants,
  lockTarget,
  MOST_GRANT_TYPES,
  MOST_GRANTS,
  revokeGrants,
  type StoredUpdateGrant,
} from '../../store/updates/grants.ts';
import { whyNeverChanged } from '../../zone/update/judge-grants.ts';
import { GRANT_MATCHES } from '../../zone/update/update-grant.ts';
import { describeGrant } from './rules.ts';

interface AllowOptions extends OwnerOption {
  readonly match: string;
  readonly types?: string;
  readonly origin?: true;
}

export async function allowNames(
  cli: Cli,
  keyText: string,
  texts: readonly string[],
  options: AllowOptions,
): Promise<void> {
  const keyName = keyNameOf(keyText);
  const owners = texts.map(parseZoneName);
  const match = GRANT_MATCHES.find((each) => each === options.match);
  if (match === undefined)
    throw new Failure('usage', `--match: expected ${GRANT_MATCHES.join(' or ')}, not "${options.match}"`);
  const types = options.types === undefined ? null : typesOf(options.types);
  const shape = { match, types, editsOrigin: options.origin === true };
  const { output } = cli;
  const allowAll = async (db: Database, accountId: number | undefined) => {
    let exitCode = 0;
    for (const owner of owners) {
      const named = { name: printName(owner) };
      const refusal = await cli.audited(db, 'update.allow', async (trx, tell) => {
        const key = await loadKey(trx, null, { name: keyName });
        const targets = await findTargets(trx, owner, accountId);
        const [target] = targets;
        if (target === undefined || !(await lockTarget(trx, target)))
          return accountId === undefined
            ? 'no operator zone or domain contains this name'
            : 'no domain of this account contains this name';
        if (targets.length > 1) {
          const accounts = targets.map(({ account }) => account).join(', ');
          return `${targets.length} accounts have ${printName(target.apex)}: choose one with --account: ${accounts}`;
        }
        const why = 'domainId' in target && types?.flatMap((type) => whyNeverChanged(type, true) ?? [])[0];
        if (why) return `${why} in a customer's domain`;
        if (key === undefined || (await lockKeys(trx, null, [key.id])).get(key.id) !== 'serve')
          return 'no such key: expected one that `tsig create` has created';
        const grant = { ...shape, owner: foldCase(owner), keyId: key.id };
        if ((await allowName(trx, target, grant)) === undefined)
          return `${printName(target.apex)} has ${MOST_GRANTS} grants; revoke one first`;
        tell({ ...noteOf(target), after: { grants: [describeGrant({ ...grant, keyName })] } });
        return undefined;
      });
      const code =
        refusal === undefined ? await output.done(named, 'allowed') : await output.refuse(named, refusal);
      exitCode = Math.max(exitCode, code);
    }
    return exitCode;
  };
  await cli.withStore((db) => withOwner(db, options, output, ({ accountId }) => allowAll(db, accountId)));
}

export async function listAllGrants(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const grants = await listOperatorGrants(db);
    if (output.json) await output.print(JSON.stringify({ grants: grants.map(grantJson) }));
    else {
      const rows = grants.map(({ keyName, owner, apex, account, match, types, editsOrigin }) => [
        keyName,
        printName(owner),
        match,
        types === null ? 'all' : types.map(typeMnemonic).join(','),
        editsOrigin ? 'yes' : 'no',
        printName(apex),
        account ?? '-',
      ]);
      await output.print(printTable(['KEY', 'NAME', 'MATCH', 'TYPES', 'ORIGIN', 'ZONE', 'OWNER'], rows));
    }
    return 0;
  });
}

export async function revokeNames(cli: Cli, keyText: string, texts: readonly string[]): Promise<void> {
  const key = keyNameOf(keyText);
  const owners = texts.map(parseZoneName);
  const { output } = cli;
  await cli.withStore(async (db) => {
    if ((await loadKey(db, null, { name: key })) === undefined)
      return await output.refuse({ key }, 'no such key');
    const revoked = await cli.audited(db, 'update.revoke', async (trx, tell) => {
      const grants = await revokeGrants(trx, key, owners);
      for (const apex of new Set(grants.map((grant) => grant.apex))) {
        const here = grants.filter((grant) => grant.apex === apex);
        const domainId = here[0]?.domainId ?? undefined;
        tell({ domainId, target: { name: printName(apex) }, before: { grants: here.map(describeGrant) } });
      }
      return grants;
    });
    let exitCode = revoked.length === 0 && owners.length === 0 ? 1 : 0;
    for (const { owner } of revoked) await output.done({ name: printName(owner) }, 'revoked');
    if (exitCode === 1) await output.refuse({ key }, 'the key has no grants');
    for (const owner of owners.map(foldCase)) {
      if (revoked.some((grant) => grant.owner === owner)) continue;
      exitCode = await output.refuse({ name: printName(owner) }, 'the key has no grant for this name');
    }
    return exitCode;
  });
}

function noteOf(target: GrantTarget): AuditNote {
  const name = printName(target.apex);
  return 'domainId' in target ? { domainId: target.domainId, target: { name } } : { target: { name } };
}

function keyNameOf(text: string): string {
  try {
    return printName(foldCase(parseName(text.endsWith('.') ? text : `${text}.`)));
  } catch {
    throw new Failure('usage', `"${text}": not the name of a key`);
  }
}

function typesOf(text: string): number[] {
  const codes = text.split(',').map((each) => {
    const code = typeCode(each.trim().toUpperCase());
    if (code === undefined || code === 0)
      throw new Failure('usage', `--types: "${each.trim()}" is not a record type`);
    const why = whyNeverChanged(code, false);
    if (why !== undefined) throw new Failure('usage', `--types: ${why}`);
    return code;
  });
  if (codes.length <= MOST_GRANT_TYPES) return [...new Set(codes)];
  throw new Failure('usage', `--types: expected at most ${MOST_GRANT_TYPES} types`);
}

function grantJson({ keyName, owner, apex, account, match, types, editsOrigin }: StoredUpdateGrant): object {
  return {
    key: keyName,
    name: printName(owner),
    match,
    types: types === null ? null : types.map(typeMnemonic),
    edits_origin: editsOrigin,
    zone: printName(apex),
    account,
  };
}

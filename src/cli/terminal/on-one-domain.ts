// Runs a command on one domain, given by its name, or prints why there is none.

import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { Failure } from './failure.ts';
import { findOneDomain } from './one-domain.ts';
import type { Output } from './output.ts';
import { printRefusal } from './print-refusal.ts';
import { type OwnerOption, withOwner } from './with-owner.ts';

/** Returns the exit code. */
export async function onOneDomain(
  db: Database,
  text: string,
  options: OwnerOption,
  output: Output,
  work: (domain: Domain) => Promise<number>,
): Promise<number> {
  const parsed = parseDomainName(text);
  if (parsed.kind === 'problem') throw new Failure('usage', `"${text}": ${parsed.message}`);
  return await withOwner(db, options, output, async (owner) => {
    const found = await findOneDomain(db, parsed.name, owner);
    if (found.kind === 'found') return await work(found.domain);
    await printRefusal(parsed.name, found, output);
    return 1;
  });
}

// `domain share` and `domain unshare`, for one domain and one account: change its role without an invite.

import type { Name } from '../../dns/name.ts';
import { type Account, findAccount } from '../../store/accounts/accounts.ts';
import { memberNote } from '../../store/audit/audit-notes.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { GrantedRole } from '../../store/sharing/judge-sharing.ts';
import { removeMember, setMember } from '../../store/sharing/members.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';

interface MemberOrder extends Owner {
  readonly tell: (note: AuditNote) => void;
  /** Email or id. */
  readonly member: string;
}

export async function shareDomain(
  db: Database,
  name: Name,
  { role, tell, ...order }: MemberOrder & { readonly role: GrantedRole },
): Promise<DomainOutcome> {
  return await withMember(db, name, order, async (domain, { id, email }) => {
    const came = await setMember(db, { domainId: domain.id, accountId: id, sharer: 'operator', role });
    if (came.kind === 'refused') return came;
    tell({ domainId: domain.id, ...memberNote(came.before, came.member) });
    return {
      kind: 'done',
      words: `with ${email} as ${role}`,
      members: { id: domain.id, member: { id, email }, role },
    };
  });
}

export async function unshareDomain(
  db: Database,
  name: Name,
  { tell, ...order }: MemberOrder,
): Promise<DomainOutcome> {
  return await withMember(db, name, order, async (domain, { id, email }) => {
    const came = await removeMember(db, { domainId: domain.id, accountId: id, sharer: 'operator' });
    if (came.kind === 'refused') return came;
    tell({ domainId: domain.id, ...memberNote(came.before, undefined) });
    return { kind: 'done', words: `with ${email}`, members: { id: domain.id, member: { id, email } } };
  });
}

async function withMember(
  db: Database,
  name: Name,
  { member, ...owner }: Omit<MemberOrder, 'tell'>,
  act: (domain: Domain, account: Account) => Promise<DomainOutcome>,
): Promise<DomainOutcome> {
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'refused') return found;
  const account = await findAccount(db, member);
  if (account === undefined)
    return { kind: 'refused', code: 'no_account', message: `no account "${member}"` };
  return await act(found.domain, account);
}

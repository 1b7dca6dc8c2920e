import { describe, expect, it } from 'vitest';
import { mayDo, ROLES } from '../../../src/api/callers/caller.ts';
import {
  GRANTED_ROLES,
  inviteStatus,
  judgeMemberChange,
  maskEmail,
  mayGrant,
  roleAfterAccept,
} from '../../../src/store/sharing/judge-sharing.ts';

describe('granting', () => {
  it.each([
    ['owner', ['admin', 'editor', 'viewer']],
    ['admin', ['admin', 'editor', 'viewer']],
    ['editor', []],
    ['viewer', []],
  ] as const)('%s grants %j', (own, granted) => {
    expect(GRANTED_ROLES.filter((role) => mayGrant(own, role))).toEqual(granted);
  });

  it('requires members.manage', () => {
    for (const role of ROLES) expect(mayGrant(role, 'viewer')).toBe(mayDo(role, 'members.manage'));
  });
});

describe('changing a member', () => {
  const other = { isProvider: false, isSelf: false };
  const self = { isProvider: false, isSelf: true };
  it.each([
    // own role, target, wanted role, code of the refusal
    ['owner', { role: 'admin', ...other }, 'viewer', undefined],
    ['owner', { role: 'admin', ...other }, undefined, undefined],
    ['admin', { role: 'admin', ...other }, 'viewer', undefined],
    ['admin', { role: 'admin', ...other }, undefined, undefined],
    ['admin', { role: 'viewer', ...other }, 'admin', undefined],
    ['admin', { role: 'admin', ...self }, 'viewer', undefined],
    ['admin', { role: 'owner', ...other }, 'viewer', 'owner'],
    ['admin', { role: 'owner', ...other }, undefined, 'owner'],
    ['owner', { role: 'owner', ...self }, 'viewer', 'owner'],
    ['owner', { role: 'owner', ...self }, undefined, 'owner'],
    ['owner', { role: 'admin', isProvider: true, isSelf: false }, 'viewer', 'provider'],
    ['owner', { role: 'admin', isProvider: true, isSelf: false }, undefined, 'provider'],
    ['admin', { role: 'admin', isProvider: true, isSelf: true }, undefined, 'provider'],
    ['editor', { role: 'viewer', ...other }, 'viewer', 'forbidden'],
    ['editor', { role: 'viewer', ...other }, undefined, 'forbidden'],
    ['editor', { role: 'editor', ...self }, 'viewer', 'forbidden'],
    ['editor', { role: 'editor', ...self }, 'admin', 'forbidden'],
    ['viewer', { role: 'owner', ...other }, undefined, 'forbidden'],
    ['admin', { role: 'admin', ...self }, undefined, undefined],
    ['editor', { role: 'editor', ...self }, undefined, undefined],
    ['viewer', { role: 'viewer', ...self }, undefined, undefined],
  ] as const)('%s on %j to %s: %s', (own, target, wanted, code) => {
    expect(judgeMemberChange(own, target, wanted)?.code).toBe(code);
  });
});

it.each([
  [undefined, 'viewer', 'viewer'],
  [undefined, 'admin', 'admin'],
  ['viewer', 'editor', 'editor'],
  ['editor', 'editor', 'editor'],
  ['admin', 'viewer', 'admin'],
  ['owner', 'admin', 'owner'],
] as const)('accepting: %s who is invited as %s is %s', (before, offered, after) => {
  expect(roleAfterAccept(before, offered)).toBe(after);
});

describe('the status of an invite', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  it.each([
    ['open', 1, 'open'],
    ['open', 0, 'expired'],
    ['open', -1, 'expired'],
    ['accepted', -1, 'accepted'],
    ['revoked', -1, 'revoked'],
  ] as const)('%s, %i ms before its end: %s', (end, leftMs, status) => {
    expect(inviteStatus(end, new Date(now.getTime() + leftMs), now)).toBe(status);
  });
});

it.each([
  ['ann@example.com', 'a•••@e•••.com'],
  ['a@b.org', 'a•••@b•••.org'],
  ['ann@mail.shop.example', 'a•••@m•••.example'],
  ['ann@localhost', 'a•••@l•••'],
  ['ürsula@müller.de', 'ü•••@m•••.de'],
  ['😀smile@example.com', '😀•••@e•••.com'],
  ['ann@.com', 'a•••@.•••'],
])('a masked email: %s is %s', (email, masked) => {
  expect(maskEmail(email)).toBe(masked);
});

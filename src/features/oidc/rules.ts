// Decides who may sign in with an identity, and derives the secrets of one sign-in from the cookie of its browser.

import { createHash } from 'node:crypto';

/** Reason for sending a person to the provider: to sign in, to confirm a session, or to link an identity to an account. */
export const PURPOSES = ['sign-in', 'confirm', 'link'] as const;
export type Purpose = (typeof PURPOSES)[number];

interface FlowSecrets {
  /** Returned by the provider, so that no other page can complete a sign-in in this browser. */
  readonly state: string;
  /** Returned in the ID token, so that a token of another sign-in is not accepted. */
  readonly nonce: string;
  /** Proves to the provider that the code is presented by the client that requested it (PKCE, RFC 7636). */
  readonly verifier: string;
}

/**
 * Each value is a hash of the cookie, which scripts and other sites cannot read, so that nothing has to be stored. None
 * of them reveals another, and those of one purpose are not valid for another.
 */
export function flowSecrets(cookie: string, purpose: Purpose): FlowSecrets {
  const derive = (use: string) =>
    createHash('sha256').update(`${use}\n${purpose}\n${cookie}`).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

/** The parameters that the provider returned to the browser. */
export interface Returned {
  readonly code: string;
  readonly state: string;
  readonly iss?: string | undefined;
}

/** The provider rejects the code, or its response is not valid for this sign-in. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
}

/** A person as described by the provider in a token that was verified. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** True only if the provider says so explicitly. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** Undefined if the provider does not decide who is an operator. */
  readonly isOperator: boolean | undefined;
  /** True if the provider reports that the person authenticated just now, not only that it has a session. */
  readonly isFresh: boolean;
}

/** OpenID Connect Core §2 limits `sub` to 255 ASCII characters. The index of both claims has room for more. */
const MAX_KEY_BYTES = 1000;
/** Postgres cannot store U+0000, and would store different unpaired surrogates as the same character. */
const UNFIT_KEY = /[\p{Cc}\p{Cs}]/u;

/** Returns the error in the claims that identify a person. */
export function findKeyFault(key: { readonly issuer: string; readonly subject: string }): string | undefined {
  const isUnfit = (text: string) =>
    text === '' || Buffer.byteLength(text) > MAX_KEY_BYTES || UNFIT_KEY.test(text);
  const claim = isUnfit(key.issuer) ? 'iss' : isUnfit(key.subject) ? 'sub' : undefined;
  return claim && `${claim}: expected 1 to ${MAX_KEY_BYTES} bytes without control characters`;
}

const MAX_EMAIL_CHARACTERS = 254;
const MAX_NAME_CHARACTERS = 200;

/**
 * Throws ProviderRefusal if the person cannot be stored. `claims` are those of the verified ID token, and of the response
 * about the user if there was one. An invalid email address is ignored.
 */
export function readPerson(
  claims: Readonly<Record<string, unknown>>,
  token: Pick<Person, 'issuer' | 'subject' | 'isFresh'>,
  operators: { readonly name: string; readonly value: string } | undefined,
): Person {
  const fault = findKeyFault(token);
  if (fault !== undefined) throw new ProviderRefusal(fault);
  const { email, email_verified: verified } = claims;
  const hasEmail = typeof email === 'string' && email.length <= MAX_EMAIL_CHARACTERS && !/\p{C}/u.test(email);
  return {
    ...token,
    email: hasEmail ? email : null,
    isEmailVerified: hasEmail && verified === true,
    name: readName(claims.name),
    isOperator: operators && hasValue(claims[operators.name], operators.value),
  };
}

/** Maximum time between authentication at the provider and the return to this service. */
const RETURN_SECONDS = 300;
/** Allowed difference between the clocks of the provider and this service. */
export const SKEW_SECONDS = 60;

/** `authTime` is the claim `auth_time` of the ID token, in seconds. Without it, the person may have authenticated long ago. */
export function isRecent(authTime: number | undefined, nowMs: number): boolean {
  if (authTime === undefined) return false;
  const age = nowMs / 1000 - authTime;
  return age < RETURN_SECONDS + SKEW_SECONDS && age > -SKEW_SECONDS;
}

function readName(name: unknown): string | null {
  if (typeof name !== 'string') return null;
  const text = name
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS);
  return text === '' ? null : text;
}

/** A claim is one value or a list. */
function hasValue(claim: unknown, value: string): boolean {
  return Array.isArray(claim) ? claim.includes(value) : claim === value;
}

/** The email domains whose addresses the provider is trusted to verify. */
export interface EmailRules {
  readonly link: readonly string[];
  readonly create: readonly string[];
}

interface KnownAccount {
  readonly isEmailConfirmed: boolean;
  readonly hasIdentity: boolean;
}

type NewcomerOutcome =
  | { readonly kind: 'link' | 'create' }
  | { readonly kind: 'refused'; readonly why: string };

/** Decides about a person whose identity is not linked. `account` is the account that has this email address. */
export function judgeNewcomer(
  person: Person,
  account: KnownAccount | undefined,
  rules: EmailRules,
): NewcomerOutcome {
  const { email, isEmailVerified } = person;
  const needed = account === undefined ? rules.create : rules.link;
  if (email === null || !isEmailVerified || !needed.includes(domainOf(email))) return NO_ACCOUNT;
  if (account === undefined) return { kind: 'create' };
  // The account may have been created by another person, who does not control this address.
  if (!account.isEmailConfirmed) return refused('the email address of your account is not confirmed yet');
  return account.hasIdentity ? refused('your account is linked to another identity') : { kind: 'link' };
}

/** The text does not reveal whether an account with this address exists. */
const NO_ACCOUNT = refused(
  'no account is linked to this identity: sign in with your password and link it on the page of your account, or ask the operator',
);

function refused(why: string) {
  return { kind: 'refused', why } as const;
}

function domainOf(email: string): string {
  return email
    .slice(email.lastIndexOf('@') + 1)
    .normalize('NFC')
    .toLowerCase();
}

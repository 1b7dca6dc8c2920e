// Limits attempts to sign in or to enter a code. Each attempt counts for its network and for its target, if known, and is
// refused while failures block one of them. A success does not reset the counters, so an attacker's own account does not
// help to attack others.

import { createHash } from 'node:crypto';
import { networkOf } from '../../process/http/connections.ts';
import { emailKeyOf } from '../../store/accounts/accounts.ts';
import { hashSecret } from '../../store/accounts/hashed-secrets.ts';
import { noteFailedSignIn } from '../../store/audit/write-audit.ts';
import { isDeviceOf, loadFailures, noteFailure } from '../../store/people/sign-in-attempts.ts';
import type { Database } from '../../store/postgres/database.ts';
import { Problem } from '../answers/problem.ts';
import {
  afterFailure,
  CLOSE_RULE,
  EMAIL_RULE,
  type FailureRule,
  MAIL_RULE,
  PROVIDER_RULE,
  secondsToWait,
} from './failure-rules.ts';

interface Counted {
  readonly key: string;
  readonly rule: FailureRule;
}

/** The account that is tried, for the audit log. */
interface Tried {
  readonly of: { readonly emailKey: string } | { readonly accountId: number };
  readonly step: 'password' | 'code' | 'confirm';
  readonly address: string;
}

/** `run` must be called exactly once. It counts a failure if the work returns false or undefined. */
interface Attempt {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export class Attempts {
  readonly #db: Database;
  /** Number of running attempts, by key. */
  readonly #running = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** To sign in. A browser that signed in before has its own counter instead of that of the email address. */
  async forEmail(address: string, email: string, device: string | undefined): Promise<Attempt | Problem> {
    const emailKey = emailKeyOf(email);
    const isKnown = await isDeviceOf(this.#db, emailKey, device);
    const own = isKnown
      ? { key: `device:${hashSecret(device as string).toString('base64')}`, rule: CLOSE_RULE }
      : { key: `email:${digest(emailKey)}`, rule: EMAIL_RULE };
    return await this.#begin([fromNetwork(address), own], { of: { emailKey }, step: 'password', address });
  }

  /** An attempt to confirm the password in a session. */
  forSession(
    address: string,
    { id, accountId }: { readonly id: number; readonly accountId: number },
  ): Promise<Attempt | Problem> {
    const tried = { of: { accountId }, step: 'confirm', address } as const;
    return this.#begin([fromNetwork(address), { key: `session:${id}`, rule: CLOSE_RULE }], tried);
  }

  /** An attempt to enter a code for an account whose password was correct. */
  forCode(address: string, accountId: number): Promise<Attempt | Problem> {
    const tried = { of: { accountId }, step: 'code', address } as const;
    return this.#begin([fromNetwork(address), { key: `code:${accountId}`, rule: CLOSE_RULE }], tried);
  }

  /** An attempt to redeem a code of the identity provider. Its counter is independent of that of passwords. */
  forProvider(address: string): Promise<Attempt | Problem> {
    return this.#begin([{ key: `provider:${networkOf(address)}`, rule: PROVIDER_RULE }]);
  }

  /** Counts every mail for the network that requests it. Returns a problem if the network requested too many. */
  async ofMails(address: string): Promise<Problem | undefined> {
    const attempt = await this.#begin([{ ...fromNetwork(address), key: `mails-by:${networkOf(address)}` }]);
    if (attempt instanceof Problem) return attempt;
    await attempt.run(async () => false);
    return undefined;
  }

  /** Counts a mail to this address. Returns false if the address already received too many. */
  async mayMail(email: string): Promise<boolean> {
    const attempt = await this.#begin([{ key: `mails-to:${digest(emailKeyOf(email))}`, rule: MAIL_RULE }]);
    if (attempt instanceof Problem) return false;
    await attempt.run(async () => false);
    return true;
  }

  async #begin(counted: readonly Counted[], tried?: Tried): Promise<Attempt | Problem> {
    const { failures, now } = await loadFailures(
      this.#db,
      counted.map(({ key }) => key),
    );
    const waits = counted.flatMap(
      ({ key, rule }) => secondsToWait(failures.get(key), now, rule, this.#running.get(key) ?? 0) ?? [],
    );
    if (waits.length > 0) return tooMany(Math.max(...waits));
    for (const { key } of counted) this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    return {
      run: async (work) => {
        try {
          const result = await work();
          if (result === false || result === undefined) await this.#noteFailures(counted, tried);
          return result;
        } finally {
          for (const { key } of counted) {
            const left = (this.#running.get(key) as number) - 1;
            if (left === 0) this.#running.delete(key);
            else this.#running.set(key, left);
          }
        }
      },
    };
  }

  async #noteFailures(counted: readonly Counted[], tried: Tried | undefined): Promise<void> {
    // Also runs for unknown email addresses, and within the transaction of a counter, so that its duration reveals
    // nothing.
    const record = tried && ((trx: Database) => noteFailedSignIn(trx, tried.of, tried));
    for (const [i, { key, rule }] of counted.entries()) {
      const also = i === counted.length - 1 ? record : undefined;
      await noteFailure(this.#db, key, (before, at) => afterFailure(before, at, rule), also);
    }
  }
}

function fromNetwork(address: string): Counted {
  return { key: `network:${networkOf(address)}`, rule: CLOSE_RULE };
}

/** Returns a key of fixed length, for any text. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function tooMany(seconds: number): Problem {
  return new Problem(429, 'too many failed attempts; try again later', {
    headers: { 'Retry-After': String(seconds) },
  });
}

// Takes the next steps of the order for a domain's certificate. Each step is saved before the next one begins, so
// that another worker can continue if one is killed.
//
//   resting ─ due ─▶ names, CAA ─▶ order at the authority ─▶ ordered ─▶ responses into zone or edges ─▶ published
//      ▲                                                                          every node or server shows them │
//      └─ certificate saved, responses removed ◀─ finalizing ◀─ key made, CSR ◀─ answered ◀──────────────────────┘

import { backoffIn, nextLookIn, nextRenewal, renewalIn } from '../../edge/certificates/certificate-status.ts';
import { judgeCertificate } from '../../edge/certificates/judge-certificate.ts';
import type { AccountShares } from '../../jobs/account-shares.ts';
import { DatabaseWatch } from '../../jobs/database-watch.ts';
import type { RunJob } from '../../jobs/job-worker.ts';
import { boundSignal } from '../../process/bound-signal.ts';
import type { Resolver } from '../../resolver/resolver.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Authority, makePrivateKey } from './client.ts';
import { CaFault } from './client-answers.ts';
import { areAnswersSeen, isOrderDue, planOrder, wantedNames } from './job-plan.ts';
import type { CertificateJob } from './rules.ts';
import { acmePauseLeft, loadAcmeAccount, pauseAcme, saveAcmeUrl } from './sql-authorities.ts';
import { endOrder, publishChallenges } from './sql-challenges.ts';
import {
  loadOrder,
  type OrderWork,
  openOrderKey,
  saveAnswered,
  saveChallenges,
  saveNewOrder,
  saveOrderKey,
  saveRest,
  saveWait,
} from './sql-orders.ts';

export type CertificateOutcome =
  | { readonly kind: 'issued'; readonly domain: string; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly domain: string; readonly error: string }
  /** The request is repeated later. */
  | { readonly kind: 'busy'; readonly domain: string; readonly error: string }
  | { readonly kind: 'waiting' | 'resting' | 'conflict' | 'absent' };

interface IssuerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeCaa' | 'observeAddresses' | 'observeTxt'>;
  readonly authority: Authority;
  readonly onOutcome: (outcome: CertificateOutcome) => void;
  /** Records what accounts use. */
  readonly shares?: Pick<AccountShares, 'begin'>;
  readonly askServersAfterMs?: number;
  readonly random?: () => number;
}

/** `next` if the step is finished and the next one may begin, otherwise the result of the job. */
type Stepped = 'next' | CertificateOutcome;

const RUN_MS = 90_000;
const MOST_STEPS = 10;
const DAY_MS = 86_400_000;
/** An order that takes longer is given up, and a new one is made. */
const ORDER_MS = DAY_MS;
const SEEN = { askServersAfterMs: 60_000, pollMs: 1000, giveUpMs: 3_600_000 };
const POLL = { least: 2000, most: 300_000 };
const BUSY = { least: 1000, usual: 5000, most: DAY_MS, mostPause: 3_600_000 };
const INACTIVE_MS = 3_600_000;

export function createIssuer(options: IssuerOptions): RunJob<CertificateJob> {
  const database = new DatabaseWatch(options.db);
  return async ({ orderId }, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => run(options, orderId, signal)));
  };
}

async function run(
  options: IssuerOptions,
  orderId: number,
  signal: AbortSignal,
): Promise<CertificateOutcome> {
  const bounded = boundSignal(signal, RUN_MS);
  for (let steps = 1; ; steps++) {
    const work = await loadOrder(options.db, orderId);
    if (work === undefined) return { kind: 'absent' };
    const end = options.shares?.begin(work.accountId);
    try {
      const stepped = await step(options, work, bounded);
      if (stepped !== 'next') return stepped;
      if (steps === MOST_STEPS) return { kind: 'waiting' };
    } catch (error) {
      signal.throwIfAborted();
      const fault = bounded.aborted ? new CaFault('busy', 'the order takes too long') : error;
      if (!(fault instanceof CaFault)) throw error;
      return await onFault(options, work, fault);
    } finally {
      end?.();
    }
  }
}

async function step(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const { db, authority } = options;
  if (work.step === 'resting') return await rest(options, work, signal);
  if (!work.isActive) return await fail(options, work, 'the domain is no longer active', INACTIVE_MS);
  if (work.directory !== authority.directory)
    return await fail(options, work, 'another authority is configured now', BUSY.least);
  if (work.at.getTime() - (work.begunAt ?? work.at).getTime() > ORDER_MS)
    return await fail(options, work, 'the order took more than a day');
  await useAccount(options, signal);
  switch (work.step) {
    case 'ordered':
      return await publish(options, work, signal);
    case 'published': {
      const limits = { ...SEEN, askServersAfterMs: options.askServersAfterMs ?? SEEN.askServersAfterMs };
      if (!(await areAnswersSeen({ ...limits, db, resolver: options.resolver }, work, signal)))
        return await awaitSeen(options, work);
      await authority.answer(work.challenges, signal);
      return (await saveAnswered(db, work)) ? 'next' : { kind: 'conflict' };
    }
    case 'answered':
      return await awaitReady(options, work, signal);
    case 'finalizing':
      return await finalize(options, work, signal);
    default:
      return work.step satisfies never;
  }
}

async function rest(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const { db, authority } = options;
  if (!work.isActive) return await wait(options, work, INACTIVE_MS, 'resting');
  const pauseMs = await acmePauseLeft(db, authority.directory);
  if (pauseMs > 0) return await wait(options, work, pauseMs + spread(options) * POLL.least);
  const wanted = await wantedNames(db, work);
  if (!isOrderDue(work, wanted.names)) return await checkRenewal(options, work, signal);
  const accountUrl = await useAccount(options, signal);
  const identities = await authority.caaIdentities(signal);
  const { names, findings } = await planOrder(options, work, { identities, accountUrl }, signal);
  if (names.length === 0) {
    const why = findings[0]?.message ?? 'the domain has no proxied name to issue a certificate for';
    return await fail(options, work, why, undefined, findings);
  }
  const { certificate } = work;
  const replaces = certificate?.kind === 'acme' ? certificate.chain : undefined;
  const order = await orderAt(authority, names, replaces, signal);
  const saved = await saveNewOrder(db, work, {
    directory: authority.directory,
    url: order.url,
    names,
    findings,
  });
  return saved ? 'next' : { kind: 'conflict' };
}

/** An authority may report that the certificate was already replaced (RFC 9773 §5). Then the order replaces none. */
async function orderAt(
  authority: Authority,
  names: readonly string[],
  replaces: string | undefined,
  signal: AbortSignal,
) {
  try {
    return await authority.order(names, replaces, signal);
  } catch (error) {
    const isReplaced = error instanceof CaFault && error.type === 'alreadyReplaced';
    if (!isReplaced) throw error;
    return await authority.order(names, undefined, signal);
  }
}

/** Checks, while no order is in progress, whether the authority suggests another time for renewal (RFC 9773). */
async function checkRenewal(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const { db, authority } = options;
  const { certificate, renewalLookAt, at } = work;
  if (certificate?.kind !== 'acme') return await wait(options, work, DAY_MS, 'resting');
  let { renewAt } = work;
  let lookInMs = Math.max(0, (renewalLookAt ?? at).getTime() - at.getTime());
  if (lookInMs === 0) {
    await useAccount(options, signal);
    const suggested = await suggestedRenewal(authority, certificate.chain, signal);
    lookInMs = nextLookIn(suggested?.retryAfterMs);
    if (suggested?.window !== undefined) {
      const { start, end } = suggested.window;
      // a moment within the window is chosen once, and kept while the window contains it
      const isWithin = renewAt !== undefined && renewAt >= start && renewAt <= end;
      if (!isWithin) renewAt = renewalIn(suggested.window, certificate, spread(options));
    }
  }
  const untilRenewal = (renewAt ?? at).getTime() - at.getTime();
  const dueInMs = Math.max(BUSY.least, Math.min(untilRenewal, lookInMs, DAY_MS));
  return (await saveRest(db, work, { dueInMs, renewAt, lookInMs }))
    ? { kind: 'resting' }
    : { kind: 'conflict' };
}

/** Without a suggestion, the certificate is renewed at the time that was already chosen (RFC 9773 §4.3.3). */
async function suggestedRenewal(authority: Authority, chain: string, signal: AbortSignal) {
  try {
    return await authority.renewal(chain, signal);
  } catch (error) {
    if (!(error instanceof CaFault)) throw error;
    return { window: undefined, retryAfterMs: error.retryAfterMs };
  }
}

async function publish(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const { db, authority } = options;
  if (work.challenges.length === 0) {
    const type = work.dnsMode === 'managed' ? 'dns-01' : 'http-01';
    const challenges = await authority.challenges(work.orderUrl as string, type, signal);
    return (await saveChallenges(db, work, challenges)) ? 'next' : { kind: 'conflict' };
  }
  const stray = work.challenges.find(
    ({ host }) => !work.names.some((name) => name.replace(/^\*\./, '') === host),
  );
  if (stray !== undefined)
    return await fail(options, work, `the authority requires proof of ${stray.host}, which was not ordered`);
  const published = await publishChallenges(db, work);
  switch (published.kind) {
    case 'published':
      return 'next';
    case 'conflict':
      return { kind: 'conflict' };
    case 'not_served':
      return await fail(options, work, 'the domain is not served here', INACTIVE_MS);
    case 'blocked': {
      const { name, type } = published;
      const message = `${name} has ${type === 'NS' ? 'NS records' : `a ${type}`} in this zone, so challenges cannot be answered there: delete that record.`;
      return await fail(options, work, message, undefined, [{ code: `CHALLENGE_${type}`, message }]);
    }
    default:
      return published satisfies never;
  }
}

async function awaitSeen(options: IssuerOptions, work: OrderWork): Promise<CertificateOutcome> {
  const waitedMs = work.at.getTime() - (work.publishedAt ?? work.at).getTime();
  if (waitedMs > SEEN.giveUpMs) {
    const what =
      work.dnsMode === 'managed'
        ? 'TXT records were not seen on all nameservers'
        : 'challenge responses did not reach all edges';
    return await fail(options, work, `the ${what} within an hour`);
  }
  return await wait(options, work, waitedMs < SEEN.askServersAfterMs ? SEEN.pollMs : 10 * SEEN.pollMs);
}

async function awaitReady(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const order = await options.authority.look(work.orderUrl as string, signal);
  if (order.status === 'pending') return await wait(options, work, pollIn(work));
  if (order.status === 'invalid') return await fail(options, work, order.error ?? 'the order became invalid');
  return (await saveOrderKey(options.db, work, makePrivateKey())) ? 'next' : { kind: 'conflict' };
}

/** The longer the authority takes, the less often it is polled. */
function pollIn({ at, begunAt }: OrderWork): number {
  const tookMs = at.getTime() - (begunAt ?? at).getTime();
  return Math.min(POLL.most, Math.max(POLL.least, tookMs / 20));
}

async function finalize(options: IssuerOptions, work: OrderWork, signal: AbortSignal): Promise<Stepped> {
  const { db, authority } = options;
  const url = work.orderUrl as string;
  const privateKey = await openOrderKey(db, work);
  let order = await authority.look(url, signal);
  if (order.status === 'ready')
    order = await authority.finalize(url, { names: work.names, privateKey }, signal);
  if (order.status === 'invalid') return await fail(options, work, order.error ?? 'the order became invalid');
  if (order.status !== 'valid') return await wait(options, work, pollIn(work));
  const certificate = await authority.certificate(url, signal);
  const { domain, at: now } = work;
  const judgement = judgeCertificate({ certificate, privateKey, domain, now, roots: undefined });
  if (judgement.kind === 'refused')
    return await fail(
      options,
      work,
      `the issued certificate cannot be used: ${judgement.problems[0]?.message}`,
    );
  const { judged } = judgement;
  const renewAt = nextRenewal(judged, spread(options));
  const dueInMs = Math.max(BUSY.least, Math.min(DAY_MS, renewAt.getTime() - now.getTime()));
  const { findings } = work;
  const ended = await endOrder(db, work, { issued: judged, findings, dueInMs, renewAt });
  return ended === 'conflict' ? { kind: 'conflict' } : { kind: 'issued', domain, names: judged.names };
}

async function fail(
  options: IssuerOptions,
  work: OrderWork,
  error: string,
  dueInMs = backoffIn(work.attempts + 1, spread(options)),
  findings = work.findings,
): Promise<CertificateOutcome> {
  const ended = await endOrder(options.db, work, { error, findings, dueInMs });
  return ended === 'conflict' ? { kind: 'conflict' } : { kind: 'failed', domain: work.domain, error };
}

async function wait(
  { db }: IssuerOptions,
  work: OrderWork,
  dueInMs: number,
  kind: 'waiting' | 'resting' = 'waiting',
): Promise<CertificateOutcome> {
  return { kind: (await saveWait(db, work, { dueInMs })) ? kind : 'conflict' };
}

async function onFault(options: IssuerOptions, work: OrderWork, fault: CaFault): Promise<CertificateOutcome> {
  const { db, authority } = options;
  const { message: error, retryAfterMs, status, type } = fault;
  const isForgotten = type === 'accountDoesNotExist';
  if (isForgotten) {
    await saveAcmeUrl(db, authority.directory, null);
    authority.forget();
  }
  if (fault.kind === 'refused' && !isForgotten) return await fail(options, work, error);
  const usual = BUSY.usual * (1 + spread(options));
  const dueInMs = Math.min(BUSY.most, Math.max(BUSY.least, (retryAfterMs ?? usual) + spread(options) * 1000));
  // a limit without a problem document applies to the whole authority, not to one domain
  if ((status === 429 || status === 503) && type === undefined && retryAfterMs !== undefined)
    await pauseAcme(db, authority.directory, Math.min(BUSY.mostPause, retryAfterMs));
  const shownError = type === 'rateLimited' ? error : undefined;
  if (!(await saveWait(db, work, { dueInMs, error: shownError }))) return { kind: 'conflict' };
  return { kind: 'busy', domain: work.domain, error };
}

/** Returns the URL of the account. */
async function useAccount({ db, authority }: IssuerOptions, signal: AbortSignal): Promise<string> {
  const account = await loadAcmeAccount(db, authority.directory, makePrivateKey);
  const url = await authority.use(account, signal);
  if (account.url === undefined) await saveAcmeUrl(db, authority.directory, url);
  return url;
}

function spread({ random = Math.random }: IssuerOptions): number {
  return random();
}

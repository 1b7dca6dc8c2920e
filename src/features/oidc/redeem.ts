// Redeems the code that the provider returned to a browser, within the limit of failed attempts of its network.

import { Problem, problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { isSecretText } from '../../store/accounts/hashed-secrets.ts';
import { loadProof } from '../../store/people/identities.ts';
import type { Provider } from './client.ts';
import {
  type EmailRules,
  flowSecrets,
  type Person,
  ProviderRefusal,
  type Purpose,
  type Returned,
} from './rules.ts';
import { OIDC } from './services.ts';

const RETRY_SECONDS = 10;

type RedeemCall = Pick<
  CallOf<'public', unknown, unknown, Returned>,
  'api' | 'people' | 'asker' | 'log' | 'body'
>;

export interface Redeemed {
  readonly person: Person;
  /** The browser's cookie. */
  readonly flow: string;
  readonly rules: EmailRules;
}

/**
 * Returns the person who authenticated at the provider. The state matches only if this browser began for this purpose, so
 * no other page can end its own sign-in here.
 */
export async function redeemFlow(call: RedeemCall, purpose: Purpose): Promise<Redeemed | Problem> {
  const { api, asker, body } = call;
  const service = providerFor(api, purpose);
  if (service instanceof Problem) return service;
  const { flow } = asker.cookies;
  if (flow === undefined || !isSecretText('flow_', flow) || flowSecrets(flow, purpose).state !== body.state)
    return problem(
      'wrong_state',
      'this was begun in another browser or window, or more than ten minutes ago: start again',
    );
  // Stored while the code of two-step sign-in is awaited.
  const proven = purpose === 'sign-in' ? ((await loadProof(api.db, flow)) as Person | undefined) : undefined;
  const person = proven ?? (await redeem(call, service.provider, flow, purpose));
  return person instanceof Problem ? person : { person, flow, rules: service.rules };
}

async function redeem(
  { people, asker, log, body }: RedeemCall,
  provider: Provider,
  flow: string,
  purpose: Purpose,
): Promise<Person | Problem> {
  const attempt = await people.attempts.forProvider(asker.address);
  if (attempt instanceof Problem) return attempt;
  const outcome = await attempt.run(async () => {
    try {
      return await provider.redeem(body, flow, purpose);
    } catch (error) {
      const { message } = error as Error;
      log.warn({ reason: message }, 'a sign-in with the identity provider failed');
      return error instanceof ProviderRefusal ? undefined : providerUnavailable(); // an outage is not a failed attempt
    }
  });
  return (
    outcome ?? problem('oidc_refused', 'the identity provider did not confirm this sign-in: start again')
  );
}

/** Returns the provider, unless there is none, or it cannot be used for this purpose. */
export function providerFor({ services }: RedeemCall['api'], purpose: Purpose) {
  const service = services.get(OIDC);
  if (service === undefined) return problem('oidc_unavailable', 'this service has no identity provider');
  if (purpose === 'confirm' && !service.confirms)
    return problem('oidc_unavailable', 'the identity provider cannot confirm a session: use your password');
  return service;
}

export function providerUnavailable(): Problem {
  return new Problem(503, 'the identity provider cannot be reached: try again later', {
    code: 'oidc_unavailable',
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}

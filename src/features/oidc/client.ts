// Calls the identity provider (OpenID Connect): discovery, the sign-in page, tokens and claims. The library verifies
// signatures and claims; this file sets its limits.

import * as oidc from 'openid-client';
import {
  flowSecrets,
  isRecent,
  type Person,
  ProviderRefusal,
  type Purpose,
  type Returned,
  readPerson,
  SKEW_SECONDS,
} from './rules.ts';

interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  readonly operators: { readonly name: string; readonly value: string } | undefined;
  /** The URL to which the provider sends people back. It never depends on a request. */
  readonly redirectUri: string;
  readonly afterSignOut: string;
}

/** The provider is unavailable, or is not configured as this client expects. */
class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

const TIMEOUT_SECONDS = 5;
const MAX_RESPONSE_BYTES = 256 * 1024;
const DISCOVERED_MS = 3_600_000;
/** After a failed discovery, calls fail immediately for this time. */
const PAUSE_MS = 10_000;
/** Maximum number of concurrent calls, so that a slow provider does not occupy the process. */
const MAX_RUNNING = 20;
/**
 * Makes the provider report when it authenticated the person (OpenID Connect Core §3.1.2.1). Equal to the longest
 * session here, so that the provider does not make people authenticate more often.
 */
const MAX_AGE_SECONDS = 90 * 86_400;

export class Provider {
  readonly #settings: ProviderSettings;
  readonly #now: () => number;
  #config: oidc.Configuration | undefined;
  #discoveredAtMs = Number.NEGATIVE_INFINITY;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #discovering: Promise<oidc.Configuration> | undefined;
  #running = 0;

  constructor(settings: ProviderSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Returns the URL of the provider's sign-in page. `cookie` is the secret of the browser. */
  async signInUrl(cookie: string, purpose: Purpose): Promise<string> {
    const config = await this.#configuration();
    const { state, nonce, verifier } = flowSecrets(cookie, purpose);
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.#settings.redirectUri,
      scope: this.#settings.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      // To confirm, the person must authenticate again, even if the provider still has a session.
      ...(purpose === 'confirm' ? { prompt: 'login', max_age: '0' } : { max_age: String(MAX_AGE_SECONDS) }),
    });
    return url.href;
  }

  /** Returns the page that also signs out of the provider. Undefined if it has none, or is not known yet. */
  signOutUrl(): string | undefined {
    if (this.#config === undefined || this.#isOld()) this.#configuration().catch(() => {}); // for the next call
    if (this.#config?.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(this.#config, { post_logout_redirect_uri: this.#settings.afterSignOut })
      .href;
  }

  /** Redeems the code, and returns the person. The caller must have compared the state. */
  async redeem({ code, state, iss }: Returned, cookie: string, purpose: Purpose): Promise<Person> {
    if (this.#running >= MAX_RUNNING) throw new ProviderUnavailable('too many sign-ins are in progress');
    this.#running++;
    try {
      const config = await this.#configuration();
      const secrets = flowSecrets(cookie, purpose);
      const returnedTo = new URL(this.#settings.redirectUri);
      returnedTo.search = new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }).toString();
      const tokens = await oidc.authorizationCodeGrant(config, returnedTo, {
        expectedState: secrets.state,
        expectedNonce: secrets.nonce,
        pkceCodeVerifier: secrets.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as oidc.IDToken;
      const all = await this.#withUserInfo(config, claims, tokens.access_token);
      const isFresh = isRecent(claims.auth_time, Date.now());
      return readPerson(all, { issuer: claims.iss, subject: claims.sub, isFresh }, this.#settings.operators);
    } catch (error) {
      throw explained(error);
    } finally {
      this.#running--;
    }
  }

  /** Many providers return claims about the person only at a separate endpoint. An address and its verification have one source. */
  async #withUserInfo(
    config: oidc.Configuration,
    claims: oidc.IDToken,
    accessToken: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { operators } = this.#settings;
    const isComplete =
      claims.email !== undefined && (operators === undefined || claims[operators.name] !== undefined);
    if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    const user = await oidc.fetchUserInfo(config, accessToken, claims.sub);
    const { email, email_verified } = claims.email === undefined ? user : claims;
    return { ...user, ...claims, email, email_verified };
  }

  #isOld(): boolean {
    return this.#now() - this.#discoveredAtMs >= DISCOVERED_MS;
  }

  /** Returns the provider's metadata, which is loaded again every hour. While that fails, the old one is used. */
  async #configuration(): Promise<oidc.Configuration> {
    if (this.#config !== undefined && !this.#isOld()) return this.#config;
    if (this.#now() - this.#failedAtMs < PAUSE_MS) {
      if (this.#config !== undefined) return this.#config;
      throw new ProviderUnavailable('the last attempt to reach it failed');
    }
    this.#discovering ??= this.#discover().finally(() => {
      this.#discovering = undefined;
    });
    return await this.#discovering;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    try {
      this.#config = await discover(issuer, clientId, authenticate(clientSecret));
      this.#discoveredAtMs = this.#now();
    } catch (error) {
      this.#failedAtMs = this.#now();
      if (this.#config === undefined) throw error;
    }
    return this.#config;
  }
}

/** Returns the issuer that the provider's ID tokens contain. It may be written differently from `OIDC_ISSUER`. */
export async function findIssuer(oidcIssuer: string): Promise<string> {
  return (await discover(oidcIssuer, 'any', oidc.None())).serverMetadata().issuer;
}

/** Loads the provider's metadata. Throws ProviderUnavailable. */
async function discover(
  issuer: string,
  clientId: string,
  authentication: oidc.ClientAuth,
): Promise<oidc.Configuration> {
  try {
    return await oidc.discovery(
      new URL(issuer),
      clientId,
      { [oidc.clockTolerance]: SKEW_SECONDS },
      authentication,
      {
        timeout: TIMEOUT_SECONDS,
        [oidc.customFetch]: boundedFetch,
        execute: [
          // Verifies the signature of ID tokens, in addition to the TLS connection that they arrive on.
          oidc.enableNonRepudiationChecks,
          // The settings allow http: for loopback only.
          ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
        ],
      },
    );
  } catch (error) {
    throw new ProviderUnavailable(issuerFault(error) ?? reasonOf(error));
  }
}

/** Returns an error that names the provider's issuer if it differs from the setting, for example by a final slash. */
function issuerFault(error: unknown): string | undefined {
  const { attribute, body } = ((error as Error).cause ?? {}) as {
    attribute?: string;
    body?: { issuer?: string };
  };
  return attribute === 'issuer' ? `its issuer is ${JSON.stringify(body?.issuer)?.slice(0, 300)}` : undefined;
}

/** Sends the secret in the way that the provider supports. Clients are registered for `client_secret_basic` by default. */
function authenticate(secret: string): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: supported } = server;
    (supported?.includes('client_secret_basic') === false ? post : basic)(server, ...rest);
  };
}

/** Aborts a response that is too large for what a provider sends. */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_RESPONSE_BYTES)
      throw new ProviderUnavailable(`its response exceeds ${MAX_RESPONSE_BYTES} bytes`);
    parts.push(part);
  }
  const { status, statusText, headers } = response;
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(parts), { status, statusText, headers });
};

/** Errors of the token endpoint that concern the code, not the client (RFC 6749 §5.2). */
const REFUSED_CODE = 'invalid_grant';

function explained(error: unknown): Error {
  if (error instanceof ProviderUnavailable || error instanceof ProviderRefusal) return error;
  if (error instanceof oidc.ResponseBodyError)
    return error.error === REFUSED_CODE
      ? new ProviderRefusal('the code was already used or has expired')
      : new ProviderUnavailable(`it responds ${error.error}`);
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return new ProviderUnavailable(
      `it responds ${error.status}: check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`,
    );
  const isInvalid = error instanceof oidc.ClientError && INVALID.test(error.code ?? '');
  return isInvalid ? new ProviderRefusal(reasonOf(error)) : new ProviderUnavailable(reasonOf(error));
}

/** Codes of the library for a response that is not valid, rather than missing. */
const INVALID =
  /^OAUTH_(JWT_|JSON_ATTRIBUTE|INVALID_RESPONSE|KEY_SELECTION|PARSE_ERROR|UNSUPPORTED_OPERATION|INVALID_REQUEST|AUTHORIZATION_RESPONSE)/;

/** Returns the messages of an error and its causes, without tokens and claims, which are in other members of the causes. */
function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < 4; each = each.cause)
    messages.push(each.message);
  return messages.join(': ');
}

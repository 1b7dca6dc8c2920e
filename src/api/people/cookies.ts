// The cookies for the token of a session, for a known browser, and for a sign-in with the identity provider. Their names
// begin with `__Host-`, so that no other host of the domain can set them. That prefix requires https, so plain http on
// loopback uses other names.

const SESSION_SECONDS = 90 * 86_400;
const DEVICE_SECONDS = 400 * 86_400;
const FLOW_SECONDS = 10 * 60;

export interface Cookies {
  readonly session: string | undefined;
  readonly device: string | undefined;
  /** Binds a sign-in with the identity provider to the browser that began it. */
  readonly flow: string | undefined;
}

type CookieName = keyof Cookies;

const SECONDS: Readonly<Record<CookieName, number>> = {
  session: SESSION_SECONDS,
  device: DEVICE_SECONDS,
  flow: FLOW_SECONDS,
};

export class CookieJar {
  readonly #isSecure: boolean;

  constructor(publicUrl: string) {
    this.#isSecure = publicUrl.startsWith('https:');
  }

  /** A cookie that occurs twice is ignored, because it is unclear which value is genuine. */
  read(header: string | undefined): Cookies {
    const pairs = (header ?? '').split(';').map((pair) => pair.trim());
    const find = (name: CookieName) => {
      const start = `${this.#nameOf(name)}=`;
      const values = pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length));
      return values.length === 1 ? values[0] : undefined;
    };
    return { session: find('session'), device: find('device'), flow: find('flow') };
  }

  /** Returns a value for `Set-Cookie`. */
  set(name: CookieName, value: string): string {
    return this.#print(name, value, SECONDS[name]);
  }

  clear(name: CookieName): string {
    return this.#print(name, '', 0);
  }

  #print(name: CookieName, value: string, seconds: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#nameOf(name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }

  #nameOf(name: CookieName): string {
    return this.#isSecure ? `__Host-${name}` : name;
  }
}

// What features give to their routes, by key: a process opens it once, and threads for large bodies have none.

/** Names a service and its type. */
export class ServiceKey<T> {
  declare readonly service: T;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Services {
  readonly #opened = new Map<object, unknown>();

  add<T>(key: ServiceKey<T>, service: T): void {
    this.#opened.set(key, service);
  }

  /** Returns undefined if this process has no such service. */
  get<T>(key: ServiceKey<T>): T | undefined {
    return this.#opened.get(key) as T | undefined;
  }
}

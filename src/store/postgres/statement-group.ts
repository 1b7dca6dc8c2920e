// Statements that are sent in one packet and answered in one. If one fails, Postgres skips those after it. The columns of a
// prepared statement are described once per connection: Postgres rejects the statement if they have changed. Behind a
// pooler it may not, so each statement names the columns that it returns.

import { Query, type QueryResult } from 'pg';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Undefined if it is not prepared. */
  readonly name: string | undefined;
  /** False if the rows are discarded. */
  readonly returns: boolean;
}

/** Receives the results of the statements that return rows, in their order. */
type Callback = (error: Error | null, results: readonly QueryResult[]) => void;
type QueryCallback = (error: Error | null, results: QueryResult | readonly QueryResult[]) => void;

/** The members of pg's `Result` that follow from the columns. */
interface Columns {
  fields: readonly unknown[];
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

const NO_COLUMNS: Columns = { fields: [], _parsers: undefined, _prebuiltEmptyResultObject: null };

/** The columns of a connection's prepared statements, by the name of the statement. */
export type KnownColumns = Map<string, Columns>;

/** The members of pg's connection that this module uses. */
interface Wire {
  readonly parsedStatements: object;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: object): void;
  bind(message: object): void;
  close(): void;
  describe(message: object): void;
  execute(message: object): void;
  sync(): void;
}

/** The members of pg's `Query` that its types do not list. `name`, `text` and `values` are those of one statement. */
interface QueryMembers {
  text: string;
  values: readonly unknown[];
  name: string | undefined;
  submit(connection: unknown): void;
  prepare(wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
  _result: Columns;
  _accumulateRows: boolean;
  _checkForMultirow(): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleReadyForQuery(wire: Wire): void;
}

const PgQuery = Query as unknown as new (config: object, callback: QueryCallback) => QueryMembers;

export class StatementGroup extends PgQuery {
  readonly #statements: readonly Statement[];
  readonly #known: KnownColumns;
  /** The known columns of each statement. Undefined if Postgres describes them. */
  readonly #columns: (Columns | undefined)[] = [];
  /** The columns of the current statement that were received or applied. */
  #applied: Columns | undefined;
  /** Index of the statement that is being sent or answered. pg finds its members on this object. */
  #current = 0;
  #isFailed = false;
  /** False while the statements are encoded. */
  #isSent = false;

  constructor(statements: readonly Statement[], known: KnownColumns, callback: Callback) {
    super({ text: '', queryMode: 'extended' }, (error, results) =>
      callback(error, Array.isArray(results) ? results : [results]),
    );
    this.#statements = statements;
    this.#known = known;
  }

  override prepare(wire: Wire): void {
    const shared = new SharedWire(wire);
    for (let index = 0; index < this.#statements.length && !this.#isFailed; index++) {
      this.#turnTo(index);
      const { name } = this.#statement;
      const columns = name === undefined ? undefined : this.#known.get(name);
      this.#columns.push(columns);
      shared.describes = this.#returns && columns === undefined;
      shared.syncs = this.#isLast;
      super.prepare(shared);
      // The values could not be encoded. Postgres carries out the statements before.
      if (this.#isFailed && !this.#isLast) wire.sync();
    }
    this.#turnTo(0);
    this.#isSent = true;
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.#applied = { fields, _parsers, _prebuiltEmptyResultObject };
  }

  override handleDataRow(message: unknown): void {
    if (!this.#returns) return;
    if (this.#applied === undefined) this.#apply(this.#columns[this.#current] as Columns);
    super.handleDataRow(message);
  }

  /** Does the same as a description of the columns. */
  #apply(columns: Columns): void {
    this._checkForMultirow();
    this._result.fields = columns.fields;
    this._result._parsers = columns._parsers;
    this._result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject;
    this._accumulateRows = true;
    this.#applied = columns;
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    const { name, returns } = this.#statement;
    if (returns) {
      super.handleCommandComplete(message, wire);
      const wasDescribed = this.#columns[this.#current] === undefined;
      if (name !== undefined && wasDescribed) this.#known.set(name, this.#applied ?? NO_COLUMNS);
    }
    this.#applied = undefined;
    if (!this.#isLast) this.#turnTo(this.#current + 1);
  }

  override handleError(error: Error, wire: Wire): void {
    // Only statements behind the commit discard their rows and are last, so the commit succeeded. After an error, pg does
    // not pass on the end of the group.
    const isBehind = this.#isSent && this.#statements.slice(this.#current).every(({ returns }) => !returns);
    this.#isFailed = !isBehind;
    // Postgres does not parse or describe the statements after the failed one.
    for (const { name } of this.#statements.slice(this.#current)) {
      if (name === undefined) continue;
      delete wire.submittedNamedStatements[name];
      this.#known.delete(name);
    }
    if (isBehind) super.handleReadyForQuery(wire);
    else super.handleError(error, wire);
  }

  override handleReadyForQuery(wire: Wire): void {
    if (!this.#isFailed) super.handleReadyForQuery(wire);
  }

  get #isLast(): boolean {
    return this.#current === this.#statements.length - 1;
  }

  get #returns(): boolean {
    return this.#statement.returns;
  }

  get #statement(): Statement {
    return this.#statements[this.#current] as Statement;
  }

  #turnTo(index: number): void {
    this.#current = index;
    const { text, values, name } = this.#statement;
    this.text = text;
    this.values = values;
    this.name = name;
  }
}

/** Sends the messages of several statements. */
class SharedWire implements Wire {
  readonly parsedStatements: object;
  readonly submittedNamedStatements: Record<string, string>;
  describes = false;
  syncs = false;
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.parsedStatements = wire.parsedStatements;
    this.submittedNamedStatements = wire.submittedNamedStatements;
    this.#wire = wire;
  }

  parse(message: object): void {
    this.#wire.parse(message);
  }

  bind(message: object): void {
    this.#wire.bind(message);
  }

  /** Keeps a prepared statement whose values cannot be encoded. pg would close it, and still regard it as prepared. */
  close(): void {}

  describe(message: object): void {
    if (this.describes) this.#wire.describe(message);
  }

  execute(message: object): void {
    this.#wire.execute(message);
  }

  sync(): void {
    if (this.syncs) this.#wire.sync();
  }
}

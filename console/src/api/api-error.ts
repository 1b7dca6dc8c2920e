// A call that failed, as one error: what the API answered, or that it could not be reached.

import { words } from '../words/words.ts';

export interface FieldError {
  readonly field: string;
  readonly error: string;
}

export interface ItemError {
  readonly list: 'create' | 'update' | 'delete' | 'replace';
  readonly index: number;
  readonly field?: string;
  readonly error: string;
}

/** The body of a refusal, as the description has it under `Problem`. */
interface Problem {
  readonly error?: string;
  readonly code?: string;
  readonly fields?: readonly FieldError[];
  readonly items?: readonly ItemError[];
  readonly [member: string]: unknown;
}

export class ApiError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly problem: Problem;
  /** Seconds; undefined where the API did not say. */
  readonly retryAfter: number | undefined;
  /** For support. */
  readonly requestId: string | undefined;

  constructor(
    status: number,
    problem: Problem,
    told: { retryAfter?: number | undefined; requestId?: string | undefined } = {},
  ) {
    super(problem.error ?? words.failures.status(status));
    this.status = status;
    this.problem = problem;
    this.retryAfter = told.retryAfter;
    this.requestId = told.requestId;
  }

  get code(): string | undefined {
    return this.problem.code;
  }

  /** Nothing reached the API, or it is busy or broken: the same call may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** What is wrong with one field of the form. */
  of(field: string): string | undefined {
    return this.problem.fields?.find((each) => each.field === field)?.error;
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError(response.status, parse(text), {
    requestId,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}

/** What stands between may answer with a page of its own: then its status is all that is known. */
function parse(text: string): Problem {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === 'object' && problem !== null ? (problem as Problem) : {};
  } catch {
    return {};
  }
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, { error: error instanceof TypeError ? words.failures.noAnswer : String(error) });
}

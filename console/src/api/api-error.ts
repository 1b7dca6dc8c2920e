// A failed call as one error: the error in the response, or the lack of a response.

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

/** The body of an error, `Problem` in the API description. */
interface Problem {
  readonly error?: string;
  readonly code?: string;
  readonly fields?: readonly FieldError[];
  readonly items?: readonly ItemError[];
  readonly [member: string]: unknown;
}

export class ApiError extends Error {
  /** 0 if there was no response. */
  readonly status: number;
  readonly problem: Problem;
  /** Undefined if the API did not specify it. */
  readonly retryAfter: number | undefined;
  /** Id that support can look up. */
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

  /** True if no response arrived, or the API is busy or has failed: the same call may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** Returns the error of one form field. */
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

/** A proxy may respond with its own page; then only the status is known. */
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

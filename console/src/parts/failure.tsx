// An error with advice, shown where it happened.

import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/api-error.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';

interface FailureProps {
  readonly error: ApiError | undefined;
  readonly onRetry?: (() => void) | undefined;
  /** Fields that show their errors themselves. */
  readonly shownFields?: readonly string[];
}

export function Failure({ error, onRetry, shownFields = [] }: FailureProps) {
  if (error === undefined) return null;
  const fields = (error.problem.fields ?? []).filter(({ field }) => !shownFields.includes(field));
  return (
    <div class="note bad" role="alert">
      <p>
        <strong dir="auto">{error.message}</strong> {adviceFor(error)}
      </p>
      {fields.length > 0 && (
        <ul>
          {fields.map(({ field, error }) => (
            <li key={field}>
              <code>{field}</code>: <bdi>{error}</bdi>
            </li>
          ))}
        </ul>
      )}
      <p class="row">
        {onRetry !== undefined && <Button onClick={onRetry}>{words.common.tryAgain}</Button>}
        {error.requestId !== undefined && error.status >= 500 && (
          <span class="quiet">{words.failures.requestId(error.requestId)}</span>
        )}
      </p>
    </div>
  );
}

function adviceFor(error: ApiError): string {
  if (error.status === 429 && error.retryAfter !== undefined) return words.failures.wait(error.retryAfter);
  if (error.status === 0) return words.failures.checkConnection;
  if (error.status >= 500) return words.failures.nothingLost;
  if (error.status === 404) return words.failures.notFound;
  return '';
}

export function Note({
  tone,
  children,
}: {
  readonly tone?: 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}) {
  return <div class={`note ${tone ?? ''}`}>{children}</div>;
}

/** Explains the next step if a list is empty. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

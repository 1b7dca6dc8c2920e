// Buttons. A busy button shows that it is busy and cannot be pressed again.

import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { toast } from '../app/toasts.ts';
import { words } from '../words/words.ts';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'disabled'> {
  readonly kind?: 'main' | 'danger' | 'bare' | undefined;
  readonly isBusy?: boolean | undefined;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** A busy button stays enabled to keep the focus, which browsers remove from disabled elements. */
export function Button({ kind, isBusy = false, type = 'button', disabled, onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`button ${kind ?? ''}`}
      aria-busy={isBusy}
      aria-disabled={isBusy ? true : undefined}
      disabled={disabled === true && !isBusy}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    />
  );
}

interface CopyProps {
  readonly text: string;
  /** Describes the copied text for screen readers. */
  readonly label?: string;
  /** Text of the button. */
  readonly shown?: string;
}

export function CopyButton({ text, label, shown = words.copy.copy }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await writeToClipboard(text))) return toast(words.copy.failed, 'bad');
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <Button kind="bare" onClick={copy} aria-label={label === undefined ? undefined : `${shown} ${label}`}>
      <span aria-live="polite">{isCopied ? words.copy.copied : shown}</span>
    </Button>
  );
}

/** A line of text to copy. */
export function Copyable({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="copyable">
      <code>{text}</code>
      <CopyButton text={text} label={label ?? text} />
    </div>
  );
}

/** Browsers have no clipboard API over http, except on loopback. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

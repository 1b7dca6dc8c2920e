// Buttons. One that is at work says so and cannot be pressed again.

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

/** While it is at work it keeps the focus, which browsers take from what is disabled. */
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
  /** What is copied, for who cannot see it. */
  readonly label?: string;
  /** What the button says. */
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

/** One line to enter elsewhere. */
export function Copyable({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="copyable">
      <code>{text}</code>
      <CopyButton text={text} label={label ?? text} />
    </div>
  );
}

/** Over http on another host than loopback browsers have no clipboard. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// A keyboard user without a pointer, who moves between controls with Tab and always sees the focus.

import type { CDPSession, Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../tests/until.ts';

/** More than any page has controls. */
const MOST_STEPS = 150;

interface Focused {
  readonly role: string;
  readonly name: string;
}

export class Keyboard {
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static async of(page: Page): Promise<Keyboard> {
    return new Keyboard(page, await page.context().newCDPSession(page));
  }

  /** Returns the focused element, by `document.activeElement`. */
  async focused(): Promise<Focused> {
    const { result } = await this.#session.send('Runtime.evaluate', { expression: 'document.activeElement' });
    const { nodes } = await this.#session.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId as string,
      fetchRelatives: false,
    });
    return { role: nodes[0]?.role?.value ?? '', name: nodes[0]?.name?.value ?? '' };
  }

  /** Presses Tab until the control has the focus, and checks at each step that the focus is visible. */
  async tabTo(role: string, name: string | RegExp): Promise<void> {
    const passed: string[] = [];
    for (let step = 0; step < MOST_STEPS; step++) {
      await this.#page.keyboard.press('Tab');
      const at = await this.focused();
      passed.push(`${at.role} "${at.name}"`);
      expect([at, await this.#page.evaluate(IS_SEEN)]).toEqual([at, true]);
      if (at.role === role && (typeof name === 'string' ? at.name === name : name.test(at.name))) return;
    }
    throw new Error(`${role} ${name} is not reached; passed: ${passed.join(', ')}`);
  }

  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  /** Checks that a page element has the focus again after a dialog or the focused element disappeared. */
  async holdsFocus(): Promise<void> {
    await until(
      () => this.#page.evaluate<boolean>('document.activeElement !== document.body'),
      'something has the focus',
      10_000,
    );
  }
}

/** True for an outline or shadow inside the window. After the last control, the focus is in the browser's own frame. */
const IS_SEEN = `(() => {
  const element = document.activeElement;
  if (element === document.body) return true;
  const box = (element.closest('label') ?? element).getBoundingClientRect();
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const isMarked = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  const isInside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  return isMarked && isInside && box.width > 1 && box.height > 1;
})()`;

import { options } from 'preact';
import { shownText } from './shown-text.ts';

/** Attributes whose values are shown on the page or read by screen readers. */
const READ = ['title', 'aria-label', 'placeholder'] as const;

interface Node {
  readonly type: unknown;
  props: unknown;
}

/** From now on, `shownText` is applied to each text that Preact adds to the page. */
export function showTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const node: Node = vnode;
    if (typeof node.props === 'string') node.props = shownText(node.props);
    else if (typeof node.type === 'string') showAttributes(node.props as Record<string, unknown>);
    before?.(vnode);
  };
}

function showAttributes(props: Record<string, unknown>): void {
  for (const name of READ) {
    const value = props[name];
    if (typeof value === 'string') props[name] = shownText(value);
  }
}

import { computed, signal } from '@preact/signals';

/** What the page alone has: a draft, or a change that is under way. */
export interface Unfinished {
  readonly address: string;
  readonly title: string;
}

const found = signal<ReadonlyMap<string, Unfinished>>(new Map());

/** All of it, the oldest first. */
export const unfinished = computed(() => [...found.value.values()]);

/** To be told whenever it begins or ends. The browser asks before the page is closed while there is any. */
export function setUnfinished(each: Unfinished, isUnfinished: boolean): void {
  if (found.peek().has(each.address) === isUnfinished) return;
  const next = new Map(found.peek());
  if (isUnfinished) next.set(each.address, each);
  else next.delete(each.address);
  found.value = next;
}

addEventListener('beforeunload', (event) => {
  if (found.peek().size > 0) event.preventDefault();
});

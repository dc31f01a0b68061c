import { computed, signal } from '@preact/signals';

/** A draft or a change in progress that exists only in the page. */
export interface Unfinished {
  readonly address: string;
  readonly title: string;
}

const found = signal<ReadonlyMap<string, Unfinished>>(new Map());

/** All unfinished changes, the oldest first. */
export const unfinished = computed(() => [...found.value.values()]);

/** Records that a change has begun or ended. While any change is unfinished, the browser asks before it closes the page. */
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

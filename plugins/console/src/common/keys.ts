import { clusterAddress, CREATE_ADDRESS, fleetAddress, SQL_ADDRESS } from './addresses.ts';

/** Windows that keyboard shortcuts open. */
export type KeyWindow = 'palette' | 'help';

/** Milliseconds within which the second key must follow `g`. */
const SECOND_KEY_MS = 1500;

const PLACES: Readonly<Record<string, string>> = {
  c: fleetAddress(),
  n: CREATE_ADDRESS,
  s: SQL_ADDRESS,
  w: clusterAddress(),
};

/** Handles the keyboard shortcuts of the whole page. Returns a function that removes the handler. */
export function followKeys(open: (window: KeyWindow) => void): () => void {
  let goesAt = -Infinity;
  const pressed = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      open('palette');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector('dialog[open]'))
      return;
    const goes = event.timeStamp - goesAt < SECOND_KEY_MS ? PLACES[key] : undefined;
    goesAt = key === 'g' ? event.timeStamp : -Infinity;
    if (goes !== undefined) location.hash = goes;
    else if (key === '?') open('help');
    else if (key === '/') focusSearch(event);
    else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1);
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

/** Whether the user is typing into an input. `event.target` hides inputs in shadow trees, such as the editors, so the path is used. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
  field.select();
}

/** Moves the focus by this number of rows; if no row has the focus, moves it to the first row. Only rows with links count. */
function moveRow(by: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main tbody th a')];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))];
  next?.focus();
}

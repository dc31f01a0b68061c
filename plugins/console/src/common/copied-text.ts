/**
 * Copies a text as it is; false: the browser does not allow it. A page that was loaded over plain HTTP from another machine has no
 * `navigator.clipboard`: there a text is copied by a selection.
 */
export async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  try {
    if (clipboard === undefined) return copySelected(text);
    await clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.className = 'visually-hidden';
  area.readOnly = true;
  area.value = text;
  // Text outside an open dialog cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  const give = (event: ClipboardEvent): void => {
    // A text area has other ends of lines.
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', give);
  try {
    area.focus({ preventScroll: true });
    area.select();
    // Deprecated, and the only way where there is no clipboard.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    document.removeEventListener('copy', give);
    area.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}

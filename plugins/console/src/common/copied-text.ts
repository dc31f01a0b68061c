/**
 * Copies a text unchanged. Returns false if the browser does not allow it. `navigator.clipboard` is missing in a page
 * that was loaded over plain HTTP from another machine. There, and if the clipboard refuses, the text is copied by
 * selecting it in a temporary text area.
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
  // While a dialog is open, only text inside it can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  const give = (event: ClipboardEvent): void => {
    // A text area changes line endings, so the original text is copied instead of the selection.
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', give);
  try {
    area.focus({ preventScroll: true });
    area.select();
    // This method is deprecated, but it is the only one that works without `navigator.clipboard`.
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

import { EditorView } from '@codemirror/view';

/** The theme of the JSON and SQL editors. The content security policy allows its styles because the editors are in shadow trees. */
export function editorLook(minHeight: string, maxHeight: string, more: Parameters<typeof EditorView.theme>[0]) {
  return EditorView.theme({
    '&': {
      maxHeight,
      color: 'var(--ink)',
      backgroundColor: 'var(--paper)',
      border: '1px solid var(--edge)',
      borderRadius: '6px',
      fontSize: '0.9rem',
    },
    '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
    '.cm-scroller': { fontFamily: 'ui-monospace, monospace', overflow: 'auto' },
    '.cm-content': { caretColor: 'var(--ink)', minHeight },
    ...more,
  });
}

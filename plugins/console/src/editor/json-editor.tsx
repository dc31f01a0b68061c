import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { editorLook } from '../common/editor-look.ts';
import { texts } from '../texts/editor.ts';
import type { DocumentProblem } from './config-document.ts';

export interface JsonEditorProps {
  /** The text that replaces the content of the editor when `revision` changes. */
  readonly text: string;
  readonly revision: number;
  readonly problems: readonly DocumentProblem[];
  readonly isReadOnly: boolean;
  /** The index to which the cursor moves. Passing a new object moves the cursor again. */
  readonly target: { readonly at: number } | undefined;
  readonly onInput: (text: string) => void;
}

const KEY = Decoration.mark({ class: 'key' });
/**
 * Finds the keys. The expression matches every string to its end, even a value or an unclosed string, so that no character of a line is
 * scanned twice.
 */
const keys = new MatchDecorator({
  regexp: /"(?:[^"\\]|\\.)*(?:"(\s*:)?)?/g,
  decorate: (add, from, to, [, colon]) => {
    if (colon !== undefined) add(from, to - colon.length, KEY);
  },
});
const keyColours = ViewPlugin.define(
  (view) => ({
    marks: keys.createDeco(view),
    update(update) {
      this.marks = keys.updateDeco(update, this.marks);
    },
  }),
  { decorations: ({ marks }) => marks },
);

const look = editorLook('12em', '65vh', {
  '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--raised)', borderRight: '1px solid var(--line)' },
  '.key': { color: 'var(--accent)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--line)' },
  '.cm-tooltip, .cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--raised)', border: '1px solid var(--line)' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { color: 'var(--ink)', backgroundColor: 'var(--line)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
});

/** The editor for JSON. It is in a shadow tree, because the content security policy allows its styles there. */
export function JsonEditor({ text, revision, problems, isReadOnly, target, onInput }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | undefined>(undefined);
  const listener = useRef(onInput);
  listener.current = onInput;

  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const view = new EditorView({ root, parent: root, doc: text, extensions: extensionsOf(isReadOnly, listener) });
    editor.current = view;
    return () => {
      view.destroy();
    };
  }, [isReadOnly]);

  useEffect(() => {
    const view = editor.current;
    if (view === undefined || view.state.doc.toString() === text) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }, [revision]);

  const shown = JSON.stringify(problems);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    const end = view.state.doc.length;
    const diagnostics = problems.map(({ from, to, message }): Diagnostic => {
      return { from: Math.min(from, end), to: Math.min(to, end), severity: 'error', message };
    });
    view.dispatch(setDiagnostics(view.state, diagnostics));
  }, [shown, isReadOnly]);

  useEffect(() => {
    const view = editor.current;
    if (view === undefined || target === undefined) return;
    view.dispatch({ selection: { anchor: Math.min(target.at, view.state.doc.length) }, scrollIntoView: true });
    view.focus();
  }, [target]);

  return <div class="json-editor" ref={host} />;
}

function extensionsOf(isReadOnly: boolean, listener: { readonly current: (text: string) => void }) {
  return [
    lineNumbers(),
    history(),
    highlightSpecialChars(),
    json(),
    bracketMatching(),
    lintGutter(),
    keyColours,
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    EditorView.lineWrapping,
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      tabindex: '0',
      'aria-label': texts.jsonLabel,
      'aria-readonly': String(isReadOnly),
    }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) listener.current(state.doc.toString());
    }),
    look,
  ];
}

import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { syntaxTree } from '@codemirror/language';
import { Compartment, type EditorState, StateEffect, StateField, type Range } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  highlightSpecialChars,
  keymap,
  ViewPlugin,
  type DecorationSet,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { editorLook } from '../common/editor-look.ts';
import type { SqlTable } from './sql-schema.ts';

interface SqlEditorProps {
  readonly label: string;
  readonly text: string;
  /** Tables whose names and columns are completed while the user types. */
  readonly tables: readonly SqlTable[];
  /** Index of the character to mark as an error. Passing a new object sets the mark again. */
  readonly fault: { readonly index: number } | undefined;
  readonly change: (text: string) => void;
  readonly run: () => void;
}

/** The SQL language support, with the tables and columns for completion. */
function languageOf(tables: readonly SqlTable[]) {
  const schema = Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
  return sql({ dialect: PostgreSQL, schema });
}

const setFault = StateEffect.define<number | undefined>();
const faultMark = Decoration.mark({ class: 'fault' });

/** The mark at the error, which is removed when the text changes. */
const faultField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    const marked = transaction.effects.find((effect) => effect.is(setFault));
    if (marked !== undefined) return marksAt(transaction.state, marked.value);
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marksAt(state: EditorState, index: number | undefined): DecorationSet {
  if (index === undefined || state.doc.length === 0) return Decoration.none;
  const from = Math.min(index, state.doc.length - 1);
  const word = state.wordAt(from);
  return Decoration.set([faultMark.range(word?.from ?? from, word?.to ?? from + 1)]);
}

const CLASSES = new Map(
  [
    ['Keyword', 'keyword'],
    ['Type', 'keyword'],
    ['String', 'string'],
    ['Number', 'number'],
    ['Bool', 'number'],
    ['Null', 'number'],
    ['LineComment', 'comment'],
    ['BlockComment', 'comment'],
  ].map(([node = '', name = '']) => [node, Decoration.mark({ class: name })]),
);

/** Highlights the syntax with our own colours, because those of the library have too little contrast in the dark theme. */
const colours = ViewPlugin.define(
  (view) => ({
    marks: coloured(view),
    update(update) {
      if (update.docChanged || update.viewportChanged || syntaxTree(update.state) !== syntaxTree(update.startState)) {
        this.marks = coloured(update.view);
      }
    },
  }),
  { decorations: ({ marks }) => marks },
);

function coloured({ state, visibleRanges }: EditorView): DecorationSet {
  const found: Range<Decoration>[] = [];
  for (const { from, to } of visibleRanges) {
    syntaxTree(state).iterate({
      from,
      to,
      enter: ({ name, from: begin, to: end }) => {
        const mark = CLASSES.get(name);
        if (mark !== undefined && end > begin) found.push(mark.range(begin, end));
      },
    });
  }
  return Decoration.set(found, true);
}

const look = editorLook('7em', '40vh', {
  '.keyword': { color: 'var(--accent)', fontWeight: '600' },
  '.string': { color: 'var(--good)' },
  '.number': { color: 'var(--warn)' },
  '.comment': { color: 'var(--quiet)', fontStyle: 'italic' },
  '.fault': {
    textDecoration: 'underline wavy var(--bad)',
    backgroundColor: 'color-mix(in srgb, var(--bad) 18%, transparent)',
  },
});

/**
 * Replaces a selection by the typed text. If the browser did this, it would keep the colour of the replaced text as an inline style,
 * which the content security policy forbids.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const isReplaced = event.inputType === 'insertText' && event.data !== null && !view.state.selection.main.empty;
    if (isReplaced) view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' });
    return isReplaced;
  },
});

/** An editor for statements, which gets the focus when it appears. It is in a shadow tree, because the content security policy allows its styles there. */
export function SqlEditor(props: SqlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | undefined>(undefined);
  const language = useRef(new Compartment());
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const { text, label } = latest.current;
    const runs = {
      key: 'Mod-Enter',
      run: () => {
        latest.current.run();
        return true;
      },
    };
    const view = new EditorView({
      root,
      parent: root,
      doc: text,
      extensions: [
        keymap.of([runs, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        autocompletion({ icons: false }),
        history(),
        highlightSpecialChars(),
        language.current.of(languageOf(latest.current.tables)),
        colours,
        faultField,
        replacing,
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.change(update.state.doc.toString());
        }),
      ],
    });
    editor.current = view;
    view.dispatch({ selection: { anchor: view.state.doc.length } });
    view.focus();
    return () => {
      view.destroy();
    };
  }, []);

  useEffect(() => {
    editor.current?.dispatch({ effects: language.current.reconfigure(languageOf(props.tables)) });
  }, [props.tables]);

  // Shows a text that was not typed, such as a statement of the history. A normal effect could run after the next key was typed, and
  // would then replace the new text by the previous one.
  useLayoutEffect(() => {
    const { current } = editor;
    if (current === undefined || current.state.doc.toString() === props.text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: props.text } });
  }, [props.text]);

  useEffect(() => {
    editor.current?.dispatch({ effects: setFault.of(props.fault?.index) });
  }, [props.fault]);

  return <div class="sql-editor" ref={host} />;
}

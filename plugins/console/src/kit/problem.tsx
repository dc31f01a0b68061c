/** An error, which screen readers announce; nothing for an empty text. */
export function Problem({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <p role="alert" class="problem">
      {text}
    </p>
  );
}

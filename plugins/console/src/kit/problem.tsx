/** Shows an error, which screen readers announce. Shows nothing if the text is empty. */
export function Problem({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <p role="alert" class="problem">
      {text}
    </p>
  );
}

// The text in a link: `#policy=isa&text=...`, compressed (raw DEFLATE) and in base64 for addresses.
const MAX_CHARACTERS = 4_000_000;

async function through(stream, bytes, limit) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    size += value.length;
    if (size > limit) throw new Error("the text in the link is too long");
    parts.push(value);
  }
}

export async function toFragment(text, policy) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text), Infinity);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const code = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#policy=${policy}&text=${code}`;
}

/** Returns {text, policy}, or null if the fragment has no text. Throws if it is damaged. */
export async function fromFragment(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const code = fields.get("text");
  if (code === null) return null;
  const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  const text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, MAX_CHARACTERS));
  return { text, policy: fields.get("policy") };
}

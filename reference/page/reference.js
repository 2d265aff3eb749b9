// Shows the interface description of the server that served this page.

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const tell = (text) => {
  const told = document.getElementById('told');
  told.textContent = text;
  told.hidden = false;
};

if (typeof SwaggerUIBundle === 'undefined') {
  tell('The page did not load completely. Check your connection, then reload the page.');
} else {
  SwaggerUIBundle({
    url: new URL('../openapi.json', location.href).href,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    filter: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // A key is forgotten with the page, and nothing is sent to a validator elsewhere.
    persistAuthorization: false,
    validatorUrl: null,
  });
}

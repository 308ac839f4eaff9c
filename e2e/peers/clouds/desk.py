"""The desks of clouds, as far as pulling goes: who shows the right thing gets a token, and only
what they sign opens the registry, which checks it with their certificate.

usage: desk.py PORT FOLDER REGISTRY

Writes into FOLDER: `desk.crt`, for the registry; `pod-token`, what a cluster gives to a pod.
Serves Entra's token, a registry's exchange, the metadata server of GKE, the registry's own token
service, and below /v2/ the registry itself, since an exchange must be of the registry's host.
"""

import base64
import datetime
import http.client
import json
import sys
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

PORT, FOLDER, REGISTRY = int(sys.argv[1]), sys.argv[2], sys.argv[3]
TENANT = "99999999-0000-0000-0000-000000000000"
CLIENT = "11111111-2222-3333-4444-555555555555"
SUBJECT = "system:serviceaccount:argocd:argocd-image-updater-controller"
NOBODY = "00000000-0000-0000-0000-000000000000"
ACCOUNT = "pull@acme.iam.gserviceaccount.com"
# What moto gives for its one account.
ECR = "000011112222-auth-token"

key = ec.generate_private_key(ec.SECP256R1())
name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "desk")])
now = datetime.datetime.now(datetime.timezone.utc)
certificate = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    .serial_number(1).not_valid_before(now - datetime.timedelta(hours=1))
    .not_valid_after(now + datetime.timedelta(days=1))
    .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    .sign(key, hashes.SHA256())
)
der = certificate.public_bytes(serialization.Encoding.DER)


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def data(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def sign(**claims):
    claims = {"iss": "desk", "iat": int(time.time()), "nbf": int(time.time()) - 5,
              "exp": int(time.time()) + 3 * 3600, "jti": str(time.time_ns()), **claims}
    header = {"typ": "JWT", "alg": "ES256", "x5c": [base64.b64encode(der).decode()]}
    content = text(json.dumps(header).encode()) + "." + text(json.dumps(claims).encode())
    r, s = utils.decode_dss_signature(key.sign(content.encode(), ec.ECDSA(hashes.SHA256())))
    return content + "." + text(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def read(token, audience):
    """The subject of a token that was signed here for this audience, else None."""
    try:
        content, signature = token.rsplit(".", 1)
        raw = data(signature)
        pair = utils.encode_dss_signature(
            int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        key.public_key().verify(pair, content.encode(), ec.ECDSA(hashes.SHA256()))
        claims = json.loads(data(content.split(".")[1]))
        return claims["sub"] if claims["aud"] == audience and claims["exp"] > time.time() else None
    except (InvalidSignature, KeyError, ValueError):
        return None


class Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body, kind="application/json", headers=()):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for header, value in headers:
            self.send_header(header, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/v2/"):
            return self.registry()
        if url.path == "/token":
            return self.token(dict(urllib.parse.parse_qsl(url.query)))
        metadata = "/computeMetadata/v1/instance/service-accounts/default/"
        if url.path.startswith(metadata) and self.headers["Metadata-Flavor"] == "Google":
            gke = [("Server", "GKE Metadata Server")]
            if url.path == metadata + "email":
                return self.say(200, ACCOUNT.encode(), "text/plain", gke)
            if url.path == metadata + "token":
                token = sign(sub=ACCOUNT, aud="google")
                return self.say(200, {"access_token": token, "expires_in": 3599}, headers=gke)
        self.say(404, {})

    do_HEAD = do_GET

    def send_response(self, status, message=None):
        # Without the server's own name: the metadata server says another.
        self.send_response_only(status, message)
        self.send_header("Date", self.date_time_string())

    def do_POST(self):
        length = int(self.headers["Content-Length"] or 0)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        if self.path == "/" + TENANT + "/oauth2/v2.0/token":
            scope = "https://containerregistry.azure.net/.default"
            who = read(form.get("client_assertion", ""), "api://AzureADTokenExchange")
            if form.get("client_id") == CLIENT and who == SUBJECT and form.get("scope") == scope:
                return self.say(200, {"access_token": sign(sub=CLIENT, aud="entra")})
            return self.say(401, {"error": "invalid_client", "error_description": "AADSTS700213"})
        if self.path == "/oauth2/exchange":
            if read(form.get("access_token", ""), "entra") and form.get("service"):
                return self.say(200, {"refresh_token": sign(sub=CLIENT, aud="refresh")})
            return self.say(401, {"errors": [{"code": "UNAUTHORIZED", "message": "no"}]})
        self.say(404, {})

    def token(self, query):
        """The registry's token service."""
        try:
            kind, pair = self.headers["Authorization"].split()
            user, password = base64.b64decode(pair).decode().split(":", 1)
        except (AttributeError, ValueError):
            return self.say(401, {"details": "no credentials"})
        known = {
            "AWS": password == ECR,
            NOBODY: read(password, "refresh") == CLIENT,
            "oauth2accesstoken": read(password, "google") == ACCOUNT,
        }
        if not known.get(user):
            return self.say(401, {"details": "not known"})
        access = []
        if "scope" in query:
            kind, rest = query["scope"].split(":", 1)
            repository, actions = rest.rsplit(":", 1)
            access = [{"type": kind, "name": repository, "actions": actions.split(",")}]
        self.say(200, {"token": sign(sub=user, aud=query["service"], access=access)})

    def registry(self):
        """The same question to the real registry."""
        connection = http.client.HTTPConnection(REGISTRY)
        names = ["Authorization", "Accept", "If-None-Match", "User-Agent"]
        connection.putrequest(self.command, self.path)
        for name in names:
            for value in self.headers.get_all(name, []):
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        names = ["WWW-Authenticate", "Docker-Content-Digest", "Link"]
        headers = [(name, answer.headers[name]) for name in names if answer.headers[name]]
        self.say(answer.status, body, answer.headers["Content-Type"] or "text/plain", headers)


with open(FOLDER + "/desk.crt", "wb") as file:
    file.write(certificate.public_bytes(serialization.Encoding.PEM))
with open(FOLDER + "/pod-token", "w") as file:
    file.write(sign(sub=SUBJECT, aud="api://AzureADTokenExchange"))
ThreadingHTTPServer(("127.0.0.1", PORT), Desk).serve_forever()

"""The blobs of Azurite, by the client of Azure."""

import datetime

from azure.storage.blob import AccountSasPermissions, BlobServiceClient, ResourceTypes, generate_account_sas

ACCOUNT = "devstoreaccount1"
# Every emulator has this key.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Azure:
    # Blocks that nobody commits are dropped by the store after a week.
    url, forgets, completes = "az://bucket/", False, ("PUT", "comp=blocklist")
    faults = [None, "cut"]

    def __init__(self, endpoint):
        service = BlobServiceClient(f"{endpoint}/{ACCOUNT}", {"account_name": ACCOUNT, "account_key": KEY})
        self.container = service.create_container("bucket")

    def put(self, key, data):
        self.container.upload_blob(key, data, overwrite=True)

    def get(self, key):
        return self.container.download_blob(key).readall()

    def keys(self, prefix):
        return list(self.container.list_blob_names(name_starts_with=prefix))

    def parts(self, key):
        return len(self.container.get_blob_client(key).get_block_list("committed")[0])

    def unfinished(self, prefix):
        found = self.container.list_blobs(name_starts_with=prefix, include=["uncommittedblobs"])
        return [it.name for it in found if it.name not in self.keys(prefix)]


def signature():
    """What allows an hour of everything."""
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    everything = AccountSasPermissions(read=True, write=True, delete=True, list=True, add=True, create=True)
    return generate_account_sas(ACCOUNT, KEY, ResourceTypes(service=True, container=True, object=True), everything, until)


def ways(run, endpoint):
    """All variables by which an account is found."""
    without = ["AZURE_STORAGE_USE_EMULATOR", "AZURITE_BLOB_STORAGE_URL"]
    url = f"{endpoint}/{ACCOUNT}"
    own = {"AZURE_STORAGE_ENDPOINT": url, "AZURE_ALLOW_HTTP": "true"}
    protocol = "DefaultEndpointsProtocol=http"
    for variables in [
        own | {"AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": KEY},
        own | {"AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": KEY},
        own | {"AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_SAS_TOKEN": f"?{signature()}"},
        {"AZURE_STORAGE_CONNECTION_STRING": f"{protocol};AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={url};"},
        {"AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint={url};SharedAccessSignature={signature()}"},
    ]:
        assert run("dedup", "az://bucket/many/0001", env=variables, without=without)[0] == "http://h/1\n", variables
        assert run("dedup", f"abfss://bucket@{ACCOUNT}.dfs.core.windows.net/many/0001", env=variables, without=without)
    wrong = own | {"AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": "d3Jvbmc="}
    message = run("dedup", "az://bucket/many/0001", env=wrong, without=without, code=2)[1]
    assert "access denied; check AZURE_STORAGE_ACCOUNT_NAME" in message and "d3Jvbmc" not in message, message
    message = run("dedup", "az://bucket/many/0001", env={"AZURE_STORAGE_KEY": KEY}, without=without, code=2)[1]
    assert "Account must be specified" in message, message
